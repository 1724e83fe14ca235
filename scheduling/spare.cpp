#include "scheduling/spare.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "scheduling/amount_text.hpp"
#include "scheduling/explanation.hpp"

namespace scheduling {

namespace {

class SpareAdder {
public:
    SpareAdder(const Snapshot& snapshot, const Rows& rows, PodPlacer& placer,
               std::vector<std::size_t> pods_on)
        : snapshot_(snapshot), rows_(rows), placer_(placer), pods_on_(std::move(pods_on)) {}

    SpareResult run() {
        for (std::size_t pool = 0; pool < snapshot_.pools.size(); ++pool) {
            fill_minimum(pool);
            fill_spare_nodes(pool);
            fill_spare_amounts(pool);
        }
        return std::move(result_);
    }

private:
    std::vector<std::size_t> slots_of(std::size_t pool) const {
        std::vector<std::size_t> slots;
        for (std::size_t row = 0; row < rows_.nodes(); ++row)
            if (rows_.node(row).pool == pool) slots.push_back(row);
        for (std::size_t i = 0; i < placer_.new_machines().size(); ++i)
            if (placer_.new_machines().at(i).pool == pool) slots.push_back(rows_.nodes() + i);
        return slots;
    }

    bool add_machine(std::size_t pool, const Amounts& wanted, const std::string& reason) {
        const auto slot = placer_.add_machine(pool, wanted);
        if (slot == kNone) return false;
        result_.reasons[slot - rows_.nodes()] = reason;
        pods_on_.resize(slot + 1);
        return true;
    }

    void add_nodes(std::size_t pool, std::int64_t missing, const std::string& reason) {
        for (; missing > 0; --missing)
            if (!add_machine(pool, {}, reason)) return note_unmet(pool, static_cast<std::size_t>(missing));
    }

    void fill_minimum(std::size_t pool) {
        const auto wanted = snapshot_.pools[pool].min_nodes;
        add_nodes(pool, wanted - static_cast<std::int64_t>(slots_of(pool).size()),
                  "to have at least " + counted(wanted, "node") + " (limits.minNodes)");
    }

    void fill_spare_nodes(std::size_t pool) {
        const auto wanted = snapshot_.pools[pool].spare.nodes;
        if (wanted <= 0) return;
        const auto slots = slots_of(pool);
        const auto empty =
            std::ranges::count_if(slots, [&](std::size_t slot) { return pods_on_[slot] == 0; });
        add_nodes(pool, wanted - empty, "to keep " + counted(wanted, "node") + " spare (scaleUp.headroom)");
    }

    // Returns the missing amounts. It counts whole free cores only, because fractions help no pod.
    Amounts missing_amounts(std::size_t pool) const {
        const auto& spare = snapshot_.pools[pool].spare;
        Amounts missing;
        missing.base[kCpu] = spare.cpu_cores * kMilli;
        missing.base[kMemory] = spare.memory_mib * kMiB;
        for (const auto slot : slots_of(pool)) {
            const auto free = slot < rows_.nodes() ? placer_.free_on_node(slot)
                                                   : placer_.new_machines().free(slot - rows_.nodes());
            missing.base[kCpu] -= std::max<std::int64_t>(0, free.base[kCpu]) / kMilli * kMilli;
            missing.base[kMemory] -= std::max<std::int64_t>(0, free.base[kMemory]);
        }
        for (auto& amount : missing.base) amount = std::max<std::int64_t>(0, amount);
        return missing;
    }

    // Fills the missing amounts in pieces as large as the machines: first by growing
    // launched ones, then by new ones.
    void fill_spare_amounts(std::size_t pool) {
        const auto& spare = snapshot_.pools[pool].spare;
        if (spare.cpu_cores <= 0 && spare.memory_mib <= 0) return;
        std::vector<std::string> amounts;
        if (spare.cpu_cores > 0) amounts.push_back(cpus(spare.cpu_cores * kMilli));
        if (spare.memory_mib > 0) amounts.push_back(memory(spare.memory_mib * kMiB));
        const auto reason = "to keep " + base::joined(amounts, " and ") + " spare (scaleUp.headroom)";
        auto missing = missing_amounts(pool);
        const auto places = BitSet::all(snapshot_.pools[pool].places.size());
        auto most = placer_.new_machines().machines(pool).largest();
        most -= placer_.new_machines().overhead(pool, places);
        while (missing.base[kCpu] > 0 || missing.base[kMemory] > 0) {
            Amounts piece;
            piece.base[kCpu] = std::min(missing.base[kCpu], most.base[kCpu] / kMilli * kMilli);
            piece.base[kMemory] = std::min(missing.base[kMemory], most.base[kMemory]);
            if (!add_piece(pool, piece, reason)) return note_unmet(pool, 1);
            missing -= piece;
        }
    }

    bool add_piece(std::size_t pool, Amounts& piece, const std::string& reason) {
        while (piece.base[kCpu] > 0 || piece.base[kMemory] > 0) {
            for (std::size_t i = 0; i < placer_.new_machines().size(); ++i)
                if (placer_.new_machines().at(i).pool == pool && placer_.reserve(rows_.nodes() + i, piece))
                    return true;
            if (add_machine(pool, piece, reason)) return true;
            piece.base[kCpu] = piece.base[kCpu] / 2 / kMilli * kMilli;
            piece.base[kMemory] = piece.base[kMemory] / 2 / kMiB * kMiB;
        }
        return false;
    }

    void note_unmet(std::size_t pool, std::size_t machines) {
        result_.unmet += machines;
        const auto& all = snapshot_.pools[pool];
        const auto& new_machines = placer_.new_machines();
        const auto size = new_machines.machines(pool).smallest({});
        if (!all.closed.empty() || !size) return;
        const Take take{1, size->cpu_cores, size->memory_mib};
        const auto budget = new_machines.free_capacity().budget_in_the_way(all, take);
        if (budget != kNone)
            result_.cuts.push_back({budget, describe(new_machines.free_capacity().budget(budget), take)});
    }

    const Snapshot& snapshot_;
    const Rows& rows_;
    PodPlacer& placer_;
    std::vector<std::size_t> pods_on_;
    SpareResult result_;
};

}  // namespace

SpareResult add_spare(const Snapshot& snapshot, const Rows& rows, PodPlacer& placer,
                      std::vector<std::size_t> pods_on) {
    return SpareAdder(snapshot, rows, placer, std::move(pods_on)).run();
}

}  // namespace scheduling
