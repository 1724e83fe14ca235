// Tests properties that hold for every cluster.
#include <algorithm>
#include <random>
#include <sstream>

#include "test/support/catch.hpp"
#include "test/unit/scheduling/builders.hpp"
#include "test/unit/scheduling/checker.hpp"
#include "test/unit/scheduling/random_cluster.hpp"

using scheduling::solve;

namespace {

// The sanitizers run a fifth of them, as in the simulation.
#if __has_feature(address_sanitizer)
constexpr std::uint64_t kSeeds = 2400;
#else
constexpr std::uint64_t kSeeds = 12000;
#endif

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const auto& line : lines) text += line + "\n";
    return text;
}

// Returns the placements in words that do not depend on pointers.
std::string text_of(const scheduling::SolveResult& result) {
    std::ostringstream text;
    for (const auto& each : result.placements) {
        text << each.pod->metadata.name << " on ";
        if (each.node) text << "node " << *each.node << "\n";
        if (each.claim) text << "claim " << *each.claim << "\n";
    }
    for (const auto& claim : result.claims)
        text << "pool " << claim.pool << " " << claim.shape << " " << claim.cpu_cores << " "
             << claim.memory_mib << " " << claim.zone << " " << claim.place << " " << claim.reason << "\n";
    for (const auto& each : result.unplaced)
        text << each.pod->metadata.name << " refused: " << joined(each.reasons);
    for (const auto& cut : result.cuts) text << cut.message << "\n";
    return text.str();
}

std::string described(std::uint64_t seed, const random_cluster::Options& options = {}) {
    auto text = "seed " + std::to_string(seed) + ":";
    for (const auto feature : random_cluster::features_of(seed, options))
        text += std::string(" ") + random_cluster::name_of(feature);
    return text;
}

}  // namespace

TEST_CASE("no placement violates any constraint") {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const auto cluster = random_cluster::make(seed);
        const auto found = checker::violations(cluster, solve(cluster));
        INFO(described(seed) << "\n" << joined(found));
        CHECK(found.empty());
    }
}

TEST_CASE("each kind of constraint by itself is kept") {
    for (int i = 0; i < random_cluster::kFeatures; ++i) {
        random_cluster::Options options;
        options.features = {static_cast<random_cluster::Feature>(i)};
        for (std::uint64_t seed = 0; seed < 100; ++seed) {
            const auto cluster = random_cluster::make(seed, options);
            const auto found = checker::violations(cluster, solve(cluster));
            INFO(random_cluster::name_of(options.features[0]) << ", seed " << seed << "\n" << joined(found));
            CHECK(found.empty());
        }
    }
}

TEST_CASE("the same cluster gives the same answer") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        const auto one = random_cluster::make(seed);
        const auto other = random_cluster::make(seed);
        INFO("seed " << seed);
        CHECK(text_of(solve(one)) == text_of(solve(other)));
    }
}

TEST_CASE("the order in which pods are told does not matter") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        auto cluster = random_cluster::make(seed);
        const auto before = text_of(solve(cluster));
        std::shuffle(cluster.pods.begin(), cluster.pods.end(), std::mt19937_64(seed));
        INFO("seed " << seed);
        CHECK(text_of(solve(cluster)) == before);
    }
}

// Spread over zones and pod affinity are left out. For a spread, another place is another domain to fill. For
// an affinity, the first machine may be there, and the other pods may not fit on it.
TEST_CASE("without limits, one more place for machines never leaves more pods without a node") {
    random_cluster::Options options;
    options.has_limits = false;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        options.features = random_cluster::features_of(seed);
        std::erase(options.features, random_cluster::Feature::zone_spread);
        std::erase(options.features, random_cluster::Feature::pod_affinity);
        if (options.features.empty()) options.features = {random_cluster::Feature::resources};
        auto cluster = random_cluster::make(seed, options);
        const auto before = solve(cluster).unplaced.size();
        builders::add_places(cluster, {"zone-new"});
        INFO(described(seed, options));
        CHECK(solve(cluster).unplaced.size() <= before);
    }
}

// The hosts are equal, and their machines have enough disk. Otherwise a machine may take the one host that a
// later one needs, or be so large that its disk is too small.
TEST_CASE("larger limits never leave more pods without a node, as far as only resources matter") {
    random_cluster::Options options;
    options.features = {random_cluster::Feature::resources};
    options.has_bounds = false;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        auto cluster = random_cluster::make(seed, options);
        const auto before = solve(cluster).unplaced.size();
        for (auto& budget : cluster.budgets) {
            if (budget.nodes) budget.nodes = *budget.nodes + 100;
            if (budget.cpu_cores) budget.cpu_cores = *budget.cpu_cores + 1000;
        }
        INFO("seed " << seed);
        CHECK(solve(cluster).unplaced.size() <= before);
    }
}

TEST_CASE("while launched machines are being created, nothing more is launched") {
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const auto before = random_cluster::make(seed);
        const auto first = solve(before);
        const auto second = solve(builders::after(before, first));
        INFO(described(seed) << "\n" << text_of(first) << "then\n" << text_of(second));
        CHECK(second.claims.empty());
    }
}
