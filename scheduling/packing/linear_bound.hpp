// Computes the least price of machines for a demand: a linear programme with fractional machines. Its dual
// values CPU and memory in the demanded proportion.
#pragma once
#include <vector>

namespace scheduling {

// PricedRoom is what a machine offers to pods, in millicores and MiB. Its
// price has any unit and is above zero.
struct PricedRoom {
    double cpu = 0;
    double memory = 0;
    double price = 0;
};

// Worth holds prices of a millicore and of a MiB.
struct Worth {
    double cpu = 0;
    double memory = 0;

    double of(double millicores, double mebibytes) const { return cpu * millicores + memory * mebibytes; }
};

class LinearBound {
public:
    explicit LinearBound(const std::vector<PricedRoom>& rooms);

    // Returns prices that value no machine above its cost, and the demand as highly as possible. The demand's
    // value is the least price of its machines.
    Worth worth(double cpu, double memory) const;

private:
    std::vector<Worth> corners_;  // the demand's value is the maximum over these
};

}  // namespace scheduling
