// Collects the findings of one round of garbage collection, as text for the condition OrphansFound.
#pragma once

#include <string>
#include <vector>

namespace controllers {

struct OrphanFindings {
    std::vector<std::string> removable;   // orphans that are or will be removed
    std::vector<std::string> alive;       // orphans whose Node may still run pods
    std::vector<std::string> stuck;       // orphans that cannot be examined or removed, and why
    std::vector<std::string> unfinished;  // machines that look like clones that were never configured
    std::vector<std::string> half_made;   // machines whose creation died, and what to do
    std::vector<std::string> abandoned;   // machines of providers that are gone, and what to do
    std::vector<std::string> failures;    // parts of the round that failed, and why

    std::size_t count() const {
        return removable.size() + alive.size() + stuck.size() + unfinished.size() + half_made.size() +
               abandoned.size();
    }
};

std::string summary_of(const OrphanFindings& findings, bool reports_only);

}  // namespace controllers
