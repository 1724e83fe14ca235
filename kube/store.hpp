// All objects of one kind in memory, with indexes. Only the informer writes it; readers never wait.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "api/meta.hpp"

namespace kube {

using api::ObjectKey;

template <api::Kind T>
class Informer;

template <api::Kind T>
class Store {
public:
    // An object never changes: a newer version is another object. A pointer may be kept across co_await.
    using Pointer = std::shared_ptr<const T>;
    using Objects = std::map<ObjectKey, Pointer>;
    using IndexFunction = std::function<std::vector<std::string>(const T&)>;

    // Returns null if it does not exist.
    Pointer get(const ObjectKey& key) const {
        auto found = objects_.find(key);
        return found == objects_.end() ? nullptr : found->second;
    }
    // Ordered by key.
    const Objects& all() const { return objects_; }
    std::vector<Pointer> values() const {
        std::vector<Pointer> values;
        values.reserve(objects_.size());
        for (const auto& [key, object] : objects_) values.push_back(object);
        return values;
    }
    std::size_t size() const { return objects_.size(); }

    // Returns the objects for which the index function returned `value`, ordered by key.
    std::vector<Pointer> by_index(const std::string& index, const std::string& value) const {
        const auto& values = index_named(index).values;
        std::vector<Pointer> result;
        auto found = values.find(value);
        if (found == values.end()) return result;
        result.assign(found->second.begin(), found->second.end());
        return result;
    }

    // Call it only before the informer runs.
    void add_index(const std::string& name, IndexFunction function) {
        if (!objects_.empty()) throw std::logic_error("index " + name + " is added to a store in use");
        if (!indexes_.try_emplace(name, Index{std::move(function), {}}).second) {
            throw std::logic_error("index " + name + " is added twice");
        }
    }

private:
    friend class Informer<T>;

    struct ByKey {
        bool operator()(const Pointer& one, const Pointer& other) const {
            const auto& a = one->metadata;
            const auto& b = other->metadata;
            return std::tie(a.namespace_, a.name) < std::tie(b.namespace_, b.name);
        }
    };
    using Sorted = std::set<Pointer, ByKey>;  // cheaper than Objects: the keys are in the objects

    struct Index {
        IndexFunction function;
        std::map<std::string, Sorted> values;
    };

    const Index& index_named(const std::string& name) const {
        auto found = indexes_.find(name);
        if (found == indexes_.end()) throw std::logic_error("there is no index " + name);
        return found->second;
    }

    // Returns the previous object.
    Pointer put(const ObjectKey& key, Pointer object) {
        auto before = remove(key);
        for (auto& [name, index] : indexes_) {
            for (const auto& value : index.function(*object)) index.values[value].insert(object);
        }
        objects_.emplace(key, std::move(object));
        return before;
    }

    Pointer remove(const ObjectKey& key) {
        auto found = objects_.find(key);
        if (found == objects_.end()) return nullptr;
        auto before = std::move(found->second);
        objects_.erase(found);
        for (auto& [name, index] : indexes_) {
            for (const auto& value : index.function(*before)) {
                auto entry = index.values.find(value);
                if (entry == index.values.end()) continue;  // the function returned the same value twice
                entry->second.erase(before);
                if (entry->second.empty()) index.values.erase(entry);
            }
        }
        return before;
    }

    Objects objects_;
    std::map<std::string, Index> indexes_;
};

}  // namespace kube
