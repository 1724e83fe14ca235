#include "controllers/orphan_findings.hpp"

#include "base/text.hpp"

namespace controllers {

std::string summary_of(const OrphanFindings& findings, bool reports_only) {
    std::string message;
    const auto add = [&message](const std::string& what, const std::vector<std::string>& names) {
        if (!names.empty()) message += (message.empty() ? "" : "; ") + what + base::joined(names);
    };
    add("with a Node, a bound volume or a claim's identity, left alone: ", findings.alive);
    add(reports_only ? "without a Node: " : "to be removed: ", findings.removable);
    add("cannot be removed: ", findings.stuck);
    add("cloned for a claim that is gone and never configured, so that nothing proves it ours (see "
        "whose it is by its description and its host's task log, then destroy or rename it): ",
        findings.unfinished);
    add("left behind by tasks that died or failed: ", findings.half_made);
    add("of providers that are gone, so that no claim can remove them (remove them by hand if you do not "
        "need them): ",
        findings.abandoned);
    add("could not be examined, so that there may be more: ", findings.failures);
    return message.empty() ? "every machine of ours belongs to a claim" : message;
}

}  // namespace controllers
