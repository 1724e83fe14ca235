// Finds the first slot that may have room, in logarithmic time. It is a tree over the slots. Its inner nodes
// hold the maximum free CPU and the maximum free memory of the slots below. Both may come from different
// slots, so each result must be checked.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "scheduling/table/bit_set.hpp"

namespace scheduling {

struct Room {
    static constexpr std::int64_t kClosed = std::numeric_limits<std::int64_t>::min();
    std::int64_t cpu = kClosed;
    std::int64_t memory = kClosed;

    // Returns the room for a pod. A pod that requests nothing fits everywhere except in closed slots.
    static Room wanted(std::int64_t cpu, std::int64_t memory) {
        return {cpu > 0 ? cpu : kClosed + 1, memory > 0 ? memory : kClosed + 1};
    }
    bool holds(const Room& wanted) const { return cpu >= wanted.cpu && memory >= wanted.memory; }
    bool operator==(const Room&) const = default;
};

class RoomTree {
public:
    std::size_t size() const { return size_; }

    void append(const Room& room) {
        if (size_ == leaves_) grow();
        ++size_;
        set(size_ - 1, room);
    }
    void set(std::size_t slot, const Room& room) {
        std::size_t node = leaves_ + slot;
        nodes_[node] = room;
        for (node /= 2; node > 0; node /= 2) {
            const Room larger = larger_of(nodes_[2 * node], nodes_[2 * node + 1]);
            if (nodes_[node] == larger) return;
            nodes_[node] = larger;
        }
    }
    const Room& at(std::size_t slot) const { return nodes_[leaves_ + slot]; }

    // Returns the first slot from `from` on that holds `wanted`, or kNone.
    std::size_t next(std::size_t from, const Room& wanted) const {
        if (from >= size_) return kNone;
        std::size_t node = leaves_ + from;
        while (true) {
            if (nodes_[node].holds(wanted)) {
                if (node >= leaves_) return node - leaves_;
                node *= 2;
                continue;
            }
            while (node % 2 == 1) node /= 2;  // a right child: everything below its parent is done
            if (node == 0) return kNone;
            ++node;
        }
    }

private:
    static Room larger_of(const Room& a, const Room& b) {
        return {std::max(a.cpu, b.cpu), std::max(a.memory, b.memory)};
    }
    void grow() {
        const std::size_t leaves = std::max<std::size_t>(64, leaves_ * 2);
        std::vector<Room> nodes(2 * leaves);
        for (std::size_t i = 0; i < size_; ++i) nodes[leaves + i] = nodes_[leaves_ + i];
        for (std::size_t i = leaves - 1; i > 0; --i) nodes[i] = larger_of(nodes[2 * i], nodes[2 * i + 1]);
        nodes_ = std::move(nodes);
        leaves_ = leaves;
    }

    std::vector<Room> nodes_;  // the root is 1, the children of n are 2n and 2n + 1
    std::size_t leaves_ = 0;
    std::size_t size_ = 0;
};

}  // namespace scheduling
