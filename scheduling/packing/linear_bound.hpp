// The least that machines for a demand can cost: the linear programme in which they come in fractions. Its
// dual says what CPU and memory are worth where that much is wanted of each.
#pragma once
#include <vector>

namespace scheduling {

// What a machine offers to pods, in millicores and MiB, and what it costs, in any unit; more than nothing.
struct PricedRoom {
    double cpu = 0;
    double memory = 0;
    double price = 0;
};

// Prices of a millicore and of a MiB.
struct Worth {
    double cpu = 0;
    double memory = 0;

    double of(double millicores, double mebibytes) const { return cpu * millicores + memory * mebibytes; }
};

class LinearBound {
public:
    explicit LinearBound(const std::vector<PricedRoom>& rooms);

    // At these prices no machine is worth more than it costs, and the demand as much as it can be: that is
    // what machines for it cost at least.
    Worth worth(double cpu, double memory) const;

private:
    std::vector<Worth> corners_;  // the demand's worth is the largest that one of these gives it
};

}  // namespace scheduling
