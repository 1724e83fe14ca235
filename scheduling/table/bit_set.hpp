// BitSet is a set of small numbers as bits, which grows by itself. Reading beyond the end finds nothing.
#pragma once
#include <algorithm>
#include <bit>
#include <boost/container/small_vector.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace scheduling {

inline constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

class BitSet {
public:
    using Word = std::uint64_t;
    static constexpr std::size_t kBits = 64;

    BitSet() = default;
    // Returns the numbers 0 to size - 1.
    static BitSet all(std::size_t size) {
        BitSet set;
        set.words_.resize((size + kBits - 1) / kBits, ~Word{0});
        if (size % kBits != 0) set.words_.back() = (Word{1} << size % kBits) - 1;
        return set;
    }

    void insert(std::size_t number) {
        if (number / kBits >= words_.size()) words_.resize(number / kBits + 1);
        words_[number / kBits] |= Word{1} << number % kBits;
    }
    void erase(std::size_t number) {
        if (number / kBits < words_.size()) words_[number / kBits] &= ~(Word{1} << number % kBits);
    }
    bool contains(std::size_t number) const { return (word(number / kBits) >> number % kBits & 1) != 0; }
    Word word(std::size_t index) const { return index < words_.size() ? words_[index] : 0; }
    std::size_t words() const { return words_.size(); }

    bool empty() const {
        for (const auto bits : words_)
            if (bits != 0) return false;
        return true;
    }
    std::size_t count() const {
        std::size_t sum = 0;
        for (const auto bits : words_) sum += static_cast<std::size_t>(std::popcount(bits));
        return sum;
    }
    // Returns the smallest member that is at least `from`, or kNone.
    std::size_t next(std::size_t from) const {
        std::size_t index = from / kBits;
        if (index >= words_.size()) return kNone;
        Word bits = words_[index] & ~Word{0} << from % kBits;
        while (bits == 0) {
            if (++index == words_.size()) return kNone;
            bits = words_[index];
        }
        return index * kBits + static_cast<std::size_t>(std::countr_zero(bits));
    }
    bool intersects(const BitSet& other) const {
        for (std::size_t i = 0; i < words_.size(); ++i)
            if ((words_[i] & other.word(i)) != 0) return true;
        return false;
    }
    BitSet& operator&=(const BitSet& other) {
        for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.word(i);
        return *this;
    }
    BitSet& operator|=(const BitSet& other) {
        if (words_.size() < other.words_.size()) words_.resize(other.words_.size());
        for (std::size_t i = 0; i < other.words_.size(); ++i) words_[i] |= other.words_[i];
        return *this;
    }
    friend BitSet operator&(BitSet a, const BitSet& b) { return a &= b; }
    // Compares members; capacity does not matter.
    bool operator==(const BitSet& other) const {
        for (std::size_t i = 0; i < std::max(words_.size(), other.words_.size()); ++i)
            if (word(i) != other.word(i)) return false;
        return true;
    }

private:
    boost::container::small_vector<Word, 1> words_;  // most sets are places of a pool: few
};

}  // namespace scheduling
