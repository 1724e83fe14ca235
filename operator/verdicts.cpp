#include "operator/verdicts.hpp"

#include <string>

#include "base/sha256.hpp"

namespace kubenodesmith {

Verdicts::Key Verdicts::key_of(std::string_view token, std::string_view verb, std::string_view path) {
    const auto digest = base::sha256(token);
    std::string text(digest.begin(), digest.end());
    text.append(verb).append(1, ' ').append(path);
    return base::sha256(text);
}

std::optional<AccessVerdict> Verdicts::find(const Key& key, base::TimePoint now) const {
    for (const auto* book : {&allowed_, &refused_}) {
        const auto* entry = book->find(key);
        if (entry && now < entry->until) return entry->verdict;
    }
    return std::nullopt;
}

void Verdicts::remember(const Key& key, AccessVerdict verdict, base::TimePoint now) {
    const bool allowed = verdict == AccessVerdict::kAllowed;
    (allowed ? refused_ : allowed_).erase(key);
    (allowed ? allowed_ : refused_).put({key, verdict, now + (allowed ? kAllowedFor : kRefusedFor)});
}

const Verdicts::Entry* Verdicts::Book::find(const Key& key) const {
    const auto found = index_.find(key);
    return found == index_.end() ? nullptr : &*found->second;
}

void Verdicts::Book::put(Entry entry) {
    erase(entry.key);
    if (entries_.size() >= most_) erase(Key(entries_.front().key));
    const auto key = entry.key;
    index_[key] = entries_.insert(entries_.end(), std::move(entry));
}

void Verdicts::Book::erase(const Key& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return;
    entries_.erase(found->second);
    index_.erase(found);
}

}  // namespace kubenodesmith
