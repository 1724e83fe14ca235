// Tests how machines are filled cheaply, and their lowest possible price.
#include "scheduling/packing/packing.hpp"

#include "scheduling/packing/linear_bound.hpp"
#include "test/support/catch.hpp"

using namespace scheduling;

namespace {

Amounts amounts(std::int64_t cores, std::int64_t gib, std::int64_t pods) {
    Amounts amounts;
    amounts.base = {cores * kMilli, gib * 1024 * kMiB, kUnbounded, pods};
    return amounts;
}

PodsAlike pods(std::int64_t cores, std::int64_t gib, std::size_t count) {
    auto requests = amounts(cores, gib, 1);
    requests.base[kStorage] = 0;
    return {requests, count};
}

MachineOption machine(std::int64_t cores, std::int64_t gib, double price) {
    return {amounts(cores, gib, 110), price};
}

double price_of(const std::vector<PackedMachine>& machines, const std::vector<MachineOption>& options) {
    double price = 0;
    for (const auto& machine : machines) price += options[machine.option].price;
    return price;
}

// Checks that every pod is packed once, and that no machine is overfull.
void check_all_are_packed(const std::vector<PackedMachine>& machines, const std::vector<PodsAlike>& kinds,
                          const std::vector<MachineOption>& options) {
    std::vector<std::size_t> packed(kinds.size());
    for (const auto& machine : machines) {
        Amounts used;
        for (const auto& [kind, count] : machine.pods) {
            packed[kind] += count;
            for (std::size_t i = 0; i < count; ++i) used += kinds[kind].requests;
        }
        CHECK(fits(used, options[machine.option].room));
    }
    for (std::size_t kind = 0; kind < kinds.size(); ++kind) CHECK(packed[kind] == kinds[kind].count);
}

}  // namespace

TEST_CASE("machines cost at least what the demand is worth at the prices of the dearest corner") {
    // A core costs 4 and a GiB costs 1: machines of 4/4 cost 20, those of 4/16 cost 32.
    const LinearBound bound({{4000, 4096, 20}, {4000, 16384, 32}});
    const auto least = [&](double cores, double gib) {
        return bound.worth(cores * 1000, gib * 1024).of(cores * 1000, gib * 1024);
    };
    CHECK(least(4, 4) == Approx(20));
    CHECK(least(4, 16) == Approx(32));
    CHECK(least(8, 20) == Approx(52));    // one of each
    CHECK(least(40, 1) == Approx(200));   // memory is left over, and is paid for
    CHECK(least(1, 160) == Approx(320));  // CPUs are left over, and are paid for
    CHECK(least(0, 0) == Approx(0));
}

TEST_CASE("pods that need CPUs and pods that need memory share machines") {
    const std::vector<PodsAlike> kinds{pods(3, 2, 10), pods(1, 14, 10)};
    const std::vector<MachineOption> options{machine(4, 16, 32), machine(8, 16, 48)};
    const auto machines = pack(kinds, options);
    check_all_are_packed(machines, kinds, options);
    CHECK(price_of(machines, options) == 320);
}

TEST_CASE("a machine is of the cheapest size that holds its pods") {
    const std::vector<PodsAlike> kinds{pods(15, 60, 1), pods(1, 2, 1)};
    const std::vector<MachineOption> options{machine(2, 4, 12), machine(4, 16, 32), machine(16, 64, 128)};
    const auto machines = pack(kinds, options);
    check_all_are_packed(machines, kinds, options);
    CHECK(price_of(machines, options) <= 140);
}

TEST_CASE("what fits no machine is in none, and holds nobody up") {
    const std::vector<PodsAlike> kinds{pods(32, 1, 3), pods(1, 1, 4)};
    const std::vector<MachineOption> options{machine(4, 8, 24)};
    const auto machines = pack(kinds, options);
    REQUIRE(machines.size() == 1);
    CHECK(machines.front().pods == std::vector{std::pair<std::size_t, std::size_t>(1, 4)});
    CHECK(pack(kinds, {}).empty());
    CHECK(pack({}, options).empty());
}

TEST_CASE("machines hold no more pods than their kubelets take") {
    const std::vector<PodsAlike> kinds{pods(0, 0, 250)};
    const std::vector<MachineOption> options{machine(16, 64, 128)};
    const auto machines = pack(kinds, options);
    check_all_are_packed(machines, kinds, options);
    CHECK(machines.size() == 3);
}

TEST_CASE("thousands of kinds of pods are packed, dealt out in parts") {
    std::vector<PodsAlike> kinds;
    for (std::int64_t i = 0; i < 3000; ++i) {
        auto kind = pods(1, 2, 1);
        kind.requests.base[kCpu] += i;
        kinds.push_back(kind);
    }
    const std::vector<MachineOption> options{machine(8, 16, 48), machine(32, 64, 192)};
    check_all_are_packed(pack(kinds, options), kinds, options);
}
