#include "controllers/orphan_findings.hpp"

#include "base/text.hpp"

namespace controllers {

std::string summary_of(const OrphanFindings& findings, bool reports_only) {
    std::string message;
    const auto add = [&message](const std::string& what, const std::vector<std::string>& names) {
        if (!names.empty()) message += (message.empty() ? "" : "; ") + what + base::joined(names);
    };
    add("left alone because they have a Node, a bound volume or a claim's identity: ", findings.alive);
    add(reports_only ? "without a Node: " : "to be removed: ", findings.removable);
    add("cannot be removed: ", findings.stuck);
    add("cloned for a claim that is gone and never configured, so it is not proven that they belong to this "
        "operator (check their description and their host's task log, then destroy or rename them): ",
        findings.unfinished);
    add("left behind by tasks that died or failed: ", findings.half_made);
    add("left by providers that are gone, so no claim can remove them (remove them by hand if you do not "
        "need them): ",
        findings.abandoned);
    add("could not be examined, so there may be more: ", findings.failures);
    return message.empty() ? "every managed machine belongs to a claim" : message;
}

}  // namespace controllers
