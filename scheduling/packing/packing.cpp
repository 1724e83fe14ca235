#include "scheduling/packing/packing.hpp"

#include <algorithm>

namespace scheduling {

namespace {

// More kinds are divided and packed separately, because a machine's time grows with the number of kinds.
constexpr std::size_t kMostKinds = 1024;
// This many sizes are tried, namely those that give most for their price.
constexpr std::size_t kMostOptions = 8;
// A good machine is repeated while there are plenty of each of its kinds.
constexpr std::size_t kPlenty = 4;

double millicores(const Amounts& amounts) {
    return static_cast<double>(amounts.base[kCpu]);
}

double mebibytes(const Amounts& amounts) {
    return static_cast<double>(amounts.base[kMemory]) / static_cast<double>(kMiB);
}

std::vector<PricedRoom> priced(const std::vector<MachineOption>& options) {
    std::vector<PricedRoom> rooms;
    rooms.reserve(options.size());
    for (const auto& option : options) rooms.push_back(priced_room(option));
    return rooms;
}

double largest_share(const Amounts& requests, const Amounts& room) {
    const auto share = [&](Base resource) {
        return room.base[resource] <= 0
                   ? 0.0
                   : static_cast<double>(requests.base[resource]) / static_cast<double>(room.base[resource]);
    };
    return std::max(share(kCpu), share(kMemory));
}

class Packer {
public:
    // `chosen` has indices of `kinds`, the hardest first.
    Packer(const std::vector<PodsAlike>& kinds, const std::vector<MachineOption>& options,
           std::vector<std::size_t> chosen)
        : kinds_(kinds), options_(options), bound_(priced(options)), waiting_(std::move(chosen)) {
        left_.resize(kinds.size());
        for (const auto kind : waiting_) left_[kind] = kinds[kind].count;
    }

    void run(std::vector<PackedMachine>& machines) {
        forget_empty();
        while (!waiting_.empty()) {
            auto best = best_machine();
            for (auto times = repetitions(best); times > 0; --times) {
                for (const auto& [kind, count] : best.pods) left_[kind] -= count;
                machines.push_back(best);
            }
            forget_empty();
        }
    }

private:
    struct Filled {
        PackedMachine machine;
        Amounts used;
    };

    void forget_empty() {
        std::erase_if(waiting_, [this](std::size_t kind) { return left_[kind] == 0; });
    }

    Worth worth() const {
        double cpu = 0, memory = 0;
        for (const auto kind : waiting_) {
            cpu += millicores(kinds_[kind].requests) * static_cast<double>(left_[kind]);
            memory += mebibytes(kinds_[kind].requests) * static_cast<double>(left_[kind]);
        }
        return bound_.worth(cpu, memory);
    }

    double value_of(const Amounts& used, std::size_t option, const Worth& prices) const {
        return prices.of(millicores(used), mebibytes(used)) / options_[option].price;
    }

    // Returns the best of the options that hold the hardest pod.
    std::vector<std::size_t> best_options(const Worth& prices) const {
        std::vector<std::size_t> best;
        for (std::size_t option = 0; option < options_.size(); ++option)
            if (fits(kinds_[waiting_.front()].requests, options_[option].room)) best.push_back(option);
        std::ranges::sort(best, [&](std::size_t a, std::size_t b) {
            const auto left = value_of(options_[a].room, a, prices);
            const auto right = value_of(options_[b].room, b, prices);
            return left != right ? left > right : a < b;
        });
        if (best.size() > kMostOptions) best.resize(kMostOptions);
        return best;
    }

    PackedMachine best_machine() {
        const auto prices = worth();
        PackedMachine best;
        double best_value = -1;
        for (const auto option : best_options(prices)) {
            auto filled = fill(option);
            filled.machine.option = cheapest_for(filled.used, option);
            const auto value = value_of(filled.used, filled.machine.option, prices);
            if (value <= best_value) continue;
            best_value = value;
            best = std::move(filled.machine);
        }
        return best;
    }

    std::size_t cheapest_for(const Amounts& used, std::size_t option) const {
        for (std::size_t other = 0; other < options_.size(); ++other)
            if (options_[other].price < options_[option].price && fits(used, options_[other].room))
                option = other;
        return option;
    }

    Filled fill(std::size_t option) {
        const auto& room = options_[option].room;
        Filled filled;
        auto free = room;
        auto left = left_;
        for (auto kind = waiting_.front(); kind != kNoKind; kind = best_match(room, free, left)) {
            --left[kind];
            free -= kinds_[kind].requests;
            filled.used += kinds_[kind].requests;
            auto& pods = filled.machine.pods;
            const auto known = std::ranges::find(pods, kind, &std::pair<std::size_t, std::size_t>::first);
            if (known == pods.end())
                pods.emplace_back(kind, 1);
            else
                ++known->second;
        }
        return filled;
    }

    // Returns a large kind that needs each resource in proportion to what is left of it.
    std::size_t best_match(const Amounts& room, const Amounts& free,
                           const std::vector<std::size_t>& left) const {
        const auto weight = [&](Base resource) {
            const auto all = static_cast<double>(std::max<std::int64_t>(room.base[resource], 1));
            return static_cast<double>(free.base[resource]) / (all * all);
        };
        const auto cpu = weight(kCpu), memory = weight(kMemory);
        auto best = kNoKind;
        double best_score = -1;
        for (const auto kind : waiting_) {
            const auto& requests = kinds_[kind].requests;
            const auto score = static_cast<double>(requests.base[kCpu]) * cpu +
                               static_cast<double>(requests.base[kMemory]) * memory;
            if (score <= best_score || left[kind] == 0 || !fits(requests, free)) continue;
            best = kind;
            best_score = score;
        }
        return best;
    }

    std::size_t repetitions(const PackedMachine& machine) const {
        auto most = left_[machine.pods.front().first];
        for (const auto& [kind, count] : machine.pods) most = std::min(most, left_[kind] / (count * kPlenty));
        return std::max<std::size_t>(most, 1);
    }

    static constexpr std::size_t kNoKind = static_cast<std::size_t>(-1);

    const std::vector<PodsAlike>& kinds_;
    const std::vector<MachineOption>& options_;
    const LinearBound bound_;
    std::vector<std::size_t> waiting_;
    std::vector<std::size_t> left_;  // by kind
};

}  // namespace

PricedRoom priced_room(const MachineOption& option) {
    return {millicores(option.room), mebibytes(option.room), option.price};
}

std::vector<PackedMachine> pack(const std::vector<PodsAlike>& kinds,
                                const std::vector<MachineOption>& options) {
    Amounts largest;
    for (const auto& option : options) largest = at_least(largest, option.room);
    std::vector<std::size_t> order;
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
        const bool fits_any = std::ranges::any_of(
            options, [&](const MachineOption& option) { return fits(kinds[kind].requests, option.room); });
        if (fits_any) order.push_back(kind);
    }
    std::ranges::sort(order, [&](std::size_t a, std::size_t b) {
        const auto left = largest_share(kinds[a].requests, largest);
        const auto right = largest_share(kinds[b].requests, largest);
        return left != right ? left > right : a < b;
    });
    const auto parts = order.size() / kMostKinds + 1;
    std::vector<PackedMachine> machines;
    for (std::size_t part = 0; part < parts; ++part) {
        std::vector<std::size_t> dealt;
        for (auto i = part; i < order.size(); i += parts) dealt.push_back(order[i]);
        Packer(kinds, options, std::move(dealt)).run(machines);
    }
    return machines;
}

}  // namespace scheduling
