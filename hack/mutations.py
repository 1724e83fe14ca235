"""The ways in which mutation_check.py breaks the operator, and where in the sources each of them is.

An edit is found by a function and a short pattern in it, so it outlives whatever else happens to the code: the
function may be in any file of the folder, and the lines around may change."""
import dataclasses
import re

from check_coroutines import end_of_block, without_noise

# What may stand between the parameters of a function and its body.
BEFORE_BODY = re.compile(r"\s*(?:(?:const|noexcept|override|final)\b\s*)*(?:->[^;{]*)?\{")


@dataclasses.dataclass
class Edit:
    """In `function` (or anywhere, if ""), `pattern` matches exactly once; what its group matches becomes `new`.

    A space in the pattern stands for any white space, and a dot for line ends too."""
    function: str
    pattern: str
    new: str

    def spans(self, text):
        """Where the group matches in the text of one file."""
        pattern = re.compile(self.pattern.replace(" ", r"\s+"), re.S)
        scopes = functions(text, self.function) if self.function else [(0, len(text))]
        return [match.span(1) for scope in scopes for match in pattern.finditer(text, *scope)]

    def __str__(self):
        return f"{self.pattern} in {self.function + '()' if self.function else 'any function'}"


class Mutation:
    def __init__(self, name, harm, folder, *edits, include=""):
        self.name, self.harm, self.folder, self.edits = name, harm, folder, edits
        self.include = include  # a header that the new text of the first edit needs

    def places(self, root):
        """For each edit all places that fit it: pairs of a file and a span."""
        texts = {path: path.read_text() for path in sorted((root / self.folder).rglob("*.[ch]pp"))}
        return [[(path, span) for path, text in texts.items() for span in edit.spans(text)] for edit in self.edits]

    def lost_anchors(self, root):
        """What says of each edit that has not exactly one place."""
        return [f"{self.name}: {edit} of {self.folder}: {len(places)} times"
                for edit, places in zip(self.edits, self.places(root)) if len(places) != 1]

    def mutated(self, root):
        """The changed files with their new texts. Each edit must have its one place."""
        found = [(*places[0], edit.new) for edit, places in zip(self.edits, self.places(root))]
        texts = {path: path.read_text() for path, _, _ in found}
        for path, (start, end), new in sorted(found, reverse=True):
            texts[path] = texts[path][:start] + new + texts[path][end:]
        if self.include:
            texts[found[0][0]] = f'#include "{self.include}"\n' + texts[found[0][0]]
        return texts


def functions(text, name):
    """The spans of all functions of that name that have a body here."""
    if f"{name}(" not in text:
        return
    plain = without_noise(text)
    for found in re.finditer(rf"\b{name}\(", plain):
        body = BEFORE_BODY.match(plain, end_of_parentheses(plain, found.end() - 1))
        if body:
            yield found.start(), end_of_block(plain, body.end() - 1)


def end_of_parentheses(text, start):
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i + 1
    return len(text)


MUTATIONS = [
    Mutation("make a machine for a claim with the name of a Node", "its token is good for somebody's Node", "controllers",
             Edit("must_heed_name", r"return (!s\.name_taken\.empty\(\))", "false")),
    Mutation("try again under a name that got a certificate", "who stole the certificate is the next machine's Node", "controllers",
             Edit("fail_attempt", r"if \((!status\.bootstrapKeySHA256\.empty\(\))\)", "false")),
    Mutation("take a Node because its kubelet says it is the claim's", "a Node of others gets labels and is drained", "controllers",
             Edit("why_refused", r"if \((is_recorded\(node, claim, host\)) \|\|", "is_labelled(node, claim)")),
    Mutation("take an older Node for a claim's", "a Node of others gets labels and is drained", "controllers",
             Edit("why_refused", r"if \((node\.metadata\.name != claim\.metadata\.name) &&", "false"),
             Edit("why_refused", r"return (is_early) \?", "false")),
    Mutation("judge by the clock a Node whose certificate we approved", "a jump of the API server's clock costs a machine",
             "controllers", Edit("is_certified", r"return (!claim\.status\.bootstrapKeySHA256\.empty\(\)) &&", "false")),
    Mutation("take an older Node for certified without its certificate", "a Node of others gets labels and is drained",
             "controllers", Edit("is_certified", r"return (!claim\.status\.bootstrapKeySHA256\.empty\(\)) &&", "true")),
    Mutation("skip the ownership check when destroying", "machines of others are destroyed", "providers/proxmox",
             Edit("next_removal_step", r"contradictory: (break);", "return for_our_machine(seen)")),
    Mutation("change a VM whatever others changed since it was read", "a machine that somebody took over becomes ours again",
             "providers/proxmox", Edit("unless_changed", r"if \((!digest\.empty\(\))\)", "false"),
             Edit("read_again", r"if \((ownership != Ownership::unfinished)\)", "false")),
    Mutation("ignore a task's exit status", "a failed clone or start passes for a machine", "providers/proxmox",
             Edit("parse_task_status", r"TaskOutcome::(failed)", "succeeded")),
    Mutation("report Launched before the machine exists", "the claim waits for a Node that cannot come", "controllers",
             Edit("follow", r"ConditionStatus::(False), reasons::kLaunching", "True")),
    Mutation("call a machine gone while its removal is under way", "the machine leaks if the task fails", "controllers",
             Edit("after_removal", r"ConditionStatus::(False), is_slow", "True")),
    Mutation("drop the finalizer when the provider refuses", "the machine leaks", "controllers",
             Edit("after_removal", r"ConditionStatus::(False), blocked->reason", "True")),
    Mutation("count nothing against a pool's limits", "more is bought than the user allows", "controllers",
             Edit("use_of_pool", r"(const auto used .+?, used\});", "return {limits::limits_of(pool.spec), {}}")),
    Mutation("forget what is in use of a pool's limits", "stale caches and two leaders buy more than the user allows", "controllers",
             Edit("use_of_pool", r"used = (.+?);", "known_usage(pool)"),
             Edit("unknown_until", r"reserved\.nodes (<= .+?)\) return", ">= 0")),
    Mutation("start the next attempt before the last machine is gone", "one claim has two machines", "controllers",
             Edit("decide_failed", r"return (decide_cleanup\(s, again\))", "again")),
    Mutation("remove nodes without draining them", "running pods are killed", "controllers",
             Edit("after_drain", r"(progress\.done && )settled", "")),
    Mutation("delete pods instead of evicting them", "disruption budgets are broken", "controllers",
             Edit("step", r"plan\.evict\) requests\.push_back\(\{pod, (std::nullopt)\}", "base::Seconds{30}")),
    Mutation("let one failing eviction keep the other pods", "a webhook for one pod stops a drain", "controllers",
             Edit("begin", r"()if \(record\.is_under_way \|\|",
                  "for (const auto& [other, known] : records_)\n"
                  "        if (record.failures == 0 && (known.failures > 0 || known.is_under_way)) return true;\n    ")),
    Mutation("know Nodes by their name", "a stranger's Node passes for the claim's", "controllers",
             Edit("observe", r"()if \(named &&", "if (named && !result.node) result.node = named;\n    ")),
    Mutation("never collect orphans", "machines leak", "controllers",
             Edit("collect", r"obstacle( = co_await remove\(.+?\));", ".clear()")),
    Mutation("forget what was bought for a pod", "a wrong prediction buys for ever", "controllers",
             Edit("", r"kMostLaunchesPerHour = (\d+)", "1000")),
    Mutation("log the bootstrap token", "whoever reads logs can join machines", "controllers",
             Edit("iso_image", r"()co_return bootstrap::nocloud_image",
                  'base::log::info("Joining", {{"token", token.text()}});\n        '), include="base/log.hpp"),
    Mutation("write a status on each pass", "the API server is never left in peace", "controllers",
             Edit("next_status", r"()for \(auto& next : updates\)", "status.conditions.clear();\n    ")),
    Mutation("say nothing about pods that get no node", "users cannot tell why a pod waits", "controllers",
             Edit("say_what_is_missing", r"(announcer_\.say\([^;]+?)joined\(refused\.reasons\)", "static_cast<void>(")),
    Mutation("wait for ever for a machine that never joins", "a paid machine stands idle, pods wait", "controllers",
             Edit("decide_registration", r"deadline( <= s\.now)", ".at.time_since_epoch().count() == 1")),
    Mutation("delete the Node before its machine is gone", "pods start elsewhere while they still run here", "controllers",
             Edit("decide_cleanup", r"()if \([^;]+?!removal_ended\(status\)\)",
                  "if (s.node && service) return {Step::delete_node, status, std::nullopt};\n    ")),
    Mutation("call a machine kept that still runs", "it takes room, and may join, beside all limits", "controllers",
             Edit("after_stop", r"providers::(Stopped)>", "RemovalInProgress")),
    Mutation("keep every machine that never joined", "they pile up", "controllers",
             Edit("is_wanted", r"(!s\.is_superseded && )", "")),
    Mutation("remove as many nodes at once as are empty", "scaleDown.maxConcurrent means nothing", "controllers",
             Edit("pool_blocker", r"leaving >= ()most", "1000 * ")),
    Mutation("approve whatever a token asks for", "who reads a machine's boot data becomes any Node", "bootstrap",
             Edit("judge_client", r"client_fault\([^;]+; (!fault\.empty\(\))", "fault.size() > 1000")),
    Mutation("approve a second key", "a thief of the token is the Node beside its machine", "bootstrap",
             Edit("judge_client", r"(!joiner->key_sha256\.empty\(\)) &&", "joiner->key_sha256.size() == 1")),
    Mutation("forget which VMID was chosen", "a crash leaves a machine that the claim does not know", "controllers",
             Edit("follow", r"()status\.machineID = ", "if (machine.state != providers::MachineState::placed) ")),
    Mutation("close the pool for one claim", "pods that fit elsewhere wait for a machine that has no room", "controllers",
             Edit("look_at_pools", r"gate_of\([^;]+;()",
                  "\n"
                  "        for (const auto& claim : claims) {\n"
                  "            if (!lacks_room(*claim) && !failed_for_room(*claim)) continue;\n"
                  "            supply.gate.open = false;\n"
                  "            supply.gate.message = \"a claim has no room\";\n"
                  "        }"), include="controllers/state/room.hpp"),
    Mutation("expect less than was bought", "machines are bought again while they come", "controllers",
             Edit("expected_allocatable", r"(return) scheduling::", "auto expected ="),
             Edit("expected_allocatable", r"return scheduling::[^;]+;()",
                  "\n    expected.erase(\"ephemeral-storage\");\n    return expected;")),
    Mutation("believe the UUID that a claim's status notes", "the Nodes of others are drained", "controllers",
             Edit("own_uuid", r"\|\| (is_adopted\(claim\))", "!noted.empty()")),
    Mutation("believe a status that says its machine was adopted", "the Nodes of others are drained", "controllers",
             Edit("is_vouched_for", r"is_recorded\([^)]+\)()", " || is_adopted(claim)"),
             Edit("why_refused", r"is_recorded\([^)]+\)()", " || is_adopted(claim)")),
    Mutation("count a leaving claim as coming", "pods wait for a machine that goes", "controllers",
             Edit("add_claim", r"else if \(!disruption::is_staying\(claim\)()", " && node"),
             Edit("add_claim", r"!node && ()!can_be_waited_for", "disruption::is_staying(claim) && ")),
    Mutation("wait for a provider that is away", "pods wait for machines that nobody makes", "controllers",
             Edit("can_be_waited_for", r"return (!end \|\| now < \*end);", "true")),
    Mutation("keep claims of a provider that is away", "machines come that nobody needs", "controllers",
             Edit("superfluous_waits", r"lacks_room\(claim\) (\|\| lacks_provider\(claim\));", "")),
    Mutation("keep templates of old images", "storage fills with templates that nobody needs", "providers",
             Edit("unwanted_templates", r"for \(const auto& guest : (state\.guests)\)", "std::vector<Guest>{}")),
    Mutation("wait for each claim to be created", "one webhook that hangs holds up all pools", "controllers",
             Edit("work_off", r"batch\.is_slow = (end <= clock_\.now\(\));", "false")),
    Mutation("forget claims that are under way", "pods get two machines", "controllers",
             Edit("add_nodes", r"for \(const auto& claim : (under_way_)\)", "ClaimPointers()")),
    Mutation("remove nodes on the word of an old pool", "N nodes that go together cost N times N requests", "controllers",
             Edit("remove", r"auto after = (\*pool);", "*view.pool"),
             Edit("remove", r"with_\.informers\.pools, (\*pool), std", "*view.pool")),
    Mutation("trust whatever cluster answers", "machines are given up that run on, and made where nobody asked",
             "providers", Edit("ask_for_proof", r"if \((id != cluster_\.id)\)", "false")),
    Mutation("forget the node of a pod that cannot be decoded", "another leader takes nodes for empty", "kube",
             Edit("node_of", r"return (object\.spec\.nodeName);", "std::string()")),
    Mutation("believe a list rather than a Ready Node", "pods die whose machine runs", "controllers",
             Edit("doubt_of", r"if \((s\.node && is_ready\(\*s\.node\))\)", "false")),
    Mutation("believe that many machines vanish at once", "a wrong view costs a fleet", "controllers",
             Edit("are_many", r"return vanished > (1)", "1'000'000")),
    Mutation("build a backend anew when its provider is deleted", "machines of deleted providers run for ever", "controllers",
             Edit("is_current", r"return entry\.provider && ()", "!object.metadata.deletionTimestamp && ")),
    Mutation("drop the backend of a deleted provider with its Secret", "machines of deleted providers run for ever", "controllers",
             Edit("refresh", r"std::holds_alternative<ProviderUnavailable>\(lookup\) && (is_leaving)", "!is_leaving")),
    Mutation("leave Secrets without a finalizer", "after a restart no machine can be removed", "controllers",
             Edit("add_finalizer", r"if \((!has_it)\) \{ kube::Patch", "false")),
    Mutation("keep the finalizer on Secrets", "Secrets and namespaces never end", "controllers",
             Edit("remove_finalizer", r"if \((found && )api", "false && found && ")),
    Mutation("release a Secret that others need", "machines of other providers cannot be removed", "controllers",
             Edit("remove_finalizer", r"if \((others\.contains\(secret\.name\))\)", "false")),
    Mutation("lose the rights with the namespace", "namespaces never end", "controllers",
             Edit("keep", r"if \((!everywhere)\)", "false")),
    Mutation("forget a host's login with its Secret", "hosts stay on", "providers",
             Edit("station_in_use", r"(is_same) \?", "false")),
    Mutation("let a deleted provider go before its orphans", "machines run for ever", "controllers",
             Edit("finalize", r"if \((!leaving\.orphans\.empty\(\))\)", "false")),
    Mutation("keep machines of providers that are gone to oneself", "machines run for ever unseen", "controllers",
             Edit("find_abandoned", r"if \((!finder)\)", "true")),
    Mutation("try Events again for a namespace that ends", "other Events wait", "kube",
             Edit("has_no_readers", r"return error\.is_not_found\(\)( \|\| [^;]+);", "")),
    Mutation("nominate more pods than a Node holds", "pods keep its room from each other", "controllers",
             Edit("holds", r"if \((!promise\.has_room \|\| )", "")),
    Mutation("let sums of numbers wrap around", "a long grace period is over at once, and its machine goes", "base",
             Edit("", r"__builtin_add_overflow\(value_, other\.value_, &value_\)\) \[\[unlikely\]\] (value_ = other\.value_ < 0 \? kMin : kMax);", ""),
             Edit("", r"__builtin_mul_overflow\(value_, other\.value_, &value_\)\) \[\[unlikely\]\] (value_ = is_negative \? kMin : kMax);", "")),
    Mutation("multiply grace periods as the API server does", "a machine is destroyed under a pod that is ending", "controllers",
             Edit("stuck_among", r"ending\.first_seen \+ (grace_of\(\*pod\)) \+",
                  "std::chrono::nanoseconds(static_cast<std::int64_t>("
                  "static_cast<std::uint64_t>(grace_of(*pod).count()) * 1'000'000'000u))")),
    Mutation("remove nodes whatever is on their disks", "data of others is destroyed", "controllers",
             Edit("held_among", r"(if \(gave_up_volumes\(pool, claim\)\)) return", "")),
    Mutation("look for local volumes by hostname only", "data of CSI drivers and of volumes made by hand is destroyed",
             "controllers",
             Edit("requirement_naming", r"if \((names_by_field\(field, node\))\)", "false"),
             Edit("names_by_label", r"(if \(is_own\(node[^;]+;)", ""),
             Edit("names_by_label", r"return (has_value\(driver->topologyKeys, expression\.key\))", "false")),
    Mutation("forget the volumes of a Node that was deleted", "its machine is destroyed with its data", "controllers",
             Edit("decide_replaced", r"else if \((!s\.held_volumes\.empty\(\))\)", "false")),
    Mutation("remove what is repaired or evacuated, volumes or not", "data is destroyed without a decision", "controllers",
             Edit("remove_unless_held", r"(if \(is_held \|\| is_kept_for_volumes[^;]+;)", ""),
             Edit("remove_unless_held", r"const auto held = (co_await look_for_volumes\(view, member\))",
                  "std::optional<Blocker>()")),
    Mutation("never hear a decision about kept volumes", "machines are kept for ever", "controllers",
             Edit("gave_up_volumes", r"return (decision && \*decision == api::annotations::kDiscard)", "decision == nullptr && false")),
    Mutation("create at once what others take away", "a machine every ten seconds for ever", "controllers",
             Edit("pauses_after_losses", r"return (status\.losses && )", "false && "),
             Edit("probe_of", r"(losses->rounds < 2)", "losses->rounds < 1000000")),
    Mutation("take an undeclared taint of a young Node for permanent", "pods get machine after machine, all with that taint",
             "controllers", Edit("temporary_taints", r"(return undeclared\(status, facts\));", "return {}")),
    Mutation("compare the labels of Nodes with the template", "every machine drifts as soon as it is Ready", "controllers",
             Edit("look_at_member", r"facts\.drift = (drift_of\(template_hash, \*claim\));",
                  "[&] {\n"
                  "        for (const auto& [key, value] : view.pool->spec.machineTemplate.labels) {\n"
                  "            const auto* found = api::find(node->metadata.labels, key);\n"
                  "            if (!found || *found != value) return key;\n"
                  "        }\n"
                  "        return drift_of(template_hash, *claim);\n"
                  "    }()")),
    Mutation("put labels back without a pause", "two programs write the same label as fast as they can", "controllers",
             Edit("upkeep", r"label && (now < pause_ends\(\*label\))", "now < label->time")),
    Mutation("never end a series of replacements", "machines that are old from the start are replaced for ever",
             "controllers", Edit("series_blocker", r"if \((lineage\.cause\.empty\(\))", "true")),
    Mutation("destroy machines with whatever is attached to them", "disks of people are deleted", "providers",
             Edit("obstacle", r"if \((unexplained\.empty\(\))\) co_return std::string\(\); const auto moved", "true")),
    Mutation("let Proxmox delete every volume of a VMID", "volumes of a CSI plugin and of other clusters are deleted",
             "providers", Edit("destroy_vm", r'(\{\{"purge", "1"\}\})',
                               '{{"purge", "1"}, {"destroy-unreferenced-disks", "1"}}')),
    Mutation("choose VMIDs without a look at volumes", "machines get the VMIDs of disks that people keep", "providers",
             Edit("free_id", r"const auto all = (with_volumes\(taken, volumes\))", "taken")),
    Mutation("end the watch at an object that cannot be decoded", "one tenant's DaemonSet keeps all pods waiting", "kube",
             Edit("take_event", r"(if \(event\.misfit &&)", "if (event.misfit) throw *event.misfit;\n        if (event.misfit &&")),
    Mutation("end the list at an object that cannot be decoded", "a restarted operator never gets ready", "kube",
             Edit("gather_misfit", r"(if \(admits\(rest\)\))", "throw error;\n        if (admits(rest))")),
    Mutation("record no volumes of a machine", "no machine with a disk can be removed", "providers",
             Edit("finished_description", r"(describe_mark\(identity, made\))", "describe_mark(identity, MadeVolumes())")),
    Mutation("let a refused claim keep its place at the head", "no other pool gets machines", "controllers",
             Edit("create", r"if \((!is_taken && !is_refused)\) throw", "!is_taken")),
    Mutation("ask for refused claims without a pause", "the API server is asked without end", "controllers",
             Edit("note", r"pause_ends = clock_\.now\(\)( \+ pauses\.after\([^;]+\));", "")),
    Mutation("wait ever longer for what refuses claims", "pods wait long after a quota was raised", "controllers",
             Edit("", r"kLongestPause = (std::chrono::minutes\{1\})", "std::chrono::hours{2}")),
    Mutation("let one claim that cannot be written stop its pool", "broken nodes are not repaired", "controllers",
             Edit("attempt", r"()if \(error\.is_conflict\(\) \|\| error\.is_not_found\(\)\) \{", "throw;\n        ")),
    Mutation("forget with the leader how many claims were created", "more machines an hour than the rate allows", "controllers",
             Edit("remember_launch", r"&& !(counts_against_rate)\(informers, claim\)", "!counts_against_rate")),
    Mutation("forget the launches of a pool that is being deleted", "more machines are created in an hour than the rate allows",
             "controllers", Edit("remember_launch", r"if \((!pool) \|\|", "!pool || pool->metadata.deletionTimestamp")),
    Mutation("forget with the leader how many nodes were removed", "more nodes leave within an hour than the rate allows",
             "controllers", Edit("remove", r"after\.status\.recentRemovals = (with_removal\([^;]+\));", "view.pool->status.recentRemovals")),
    Mutation("count nodes against the rate only once they are gone", "more nodes leave within an hour than the rate allows",
             "controllers", Edit("removals_last_hour", r"if \((disruption::under_way\(\*claim\))\)", "false")),
    Mutation("forget with the leader what was given up", "a node is drained again at once", "controllers",
             Edit("taken_back", r"status\.undoneDisruption = (kind \? name_of\(\*kind\) : \"\")", "std::string()")),
    Mutation("forget with the leader that no replacement came", "each node of a pool is taken out of service to see it again",
             "controllers", Edit("note_replacement", r"replacementPause = (std::move\(pause\))", "std::nullopt")),
    Mutation("hand any Secret to machines", "who may write pools reads the Secrets of the namespace", "controllers",
             Edit("secret_text_for_machines", r"if \((!value \|\| \*value != \"true\")\)", "false")),
    Mutation("put kubeadm's group on every token", "a machine's token is good for any Node", "controllers",
             Edit("group_of", r"if \((bootstrap::binds_tokens\(wanted\))\)", "false")),
    Mutation("give machines the labels of the operator's place", "the operator's pod runs on a machine of a pool", "controllers",
             Edit("node_labels", r"( \|\| is_place_of_operator\(label\.first\))", "")),
    Mutation("count a DaemonSet whose pod fits nowhere", "one tenant keeps everybody's pods from their machines", "scheduling",
             Edit("settle", r"(if \(fits\(taken, free\)\))", "if (true)")),
    Mutation("take an answer without identity for another machine", "a healthy server is cut off hard", "providers/redfish",
             Edit("step", r"if \((!system\.uuid\.empty\(\)) && !base::same_uuid", "true")),
    Mutation("forget a Ready Node when its BMC remembers Off", "a healthy server is cut off hard", "providers/redfish",
             Edit("give_up", r"if \((!runs)\)", "true")),
    Mutation("cut the power of what runs a Ready Node", "pods are killed", "providers/redfish",
             Edit("next_off_step", r"is_asked = (runs \|\| progress\.off_asked)", "false")),
    Mutation("let a refused shutdown have no time", "a host is never turned off", "providers/redfish",
             Edit("press", r"if \((!progress\.off_asked)\)", "outcome.answer == ResetAnswer::taken")),
    Mutation("take one refusal of good credentials for a verdict", "a host in use is never turned off", "providers/redfish",
             Edit("note_refusal", r"if \((access_->is_proven) &&", "false")),
    Mutation("replace a session without ending it", "people are locked out of their BMC", "providers/redfish",
             Edit("replace_session", r"(co_await log_out\(\));", "access_->token.clear()")),
    Mutation("forget with the process who refused an account", "a crash loop locks an account", "providers/redfish",
             Edit("account_of", r"(\+\+account->refusals);", "static_cast<void>(0)")),
    Mutation("count only failures after a host was turned on", "hosts that fail hide one that works", "providers/redfish",
             Edit("note_failure", r"if \((use\.stage == HostStage::reserved)\)", "false")),
    Mutation("give a host back as it was prepared", "whoever turns it on boots our image", "providers/redfish",
             Edit("undo_preparation", r"has_preparation = (settings_\.spec\.boot\.method != BootMethod::Disk);", "false")),
    Mutation("eject what others inserted", "somebody's installation breaks off", "providers/redfish",
             Edit("eject_media", r"slot\.is_inserted && (test\(slot\))", "true")),
    Mutation("try a changed password at every BMC", "a directory locks the account", "providers/redfish",
             Edit("spare_account", r"if \((account_->refusing\.size\(\) < kMostRefusing)\)", "true")),
    Mutation("leave the sessions of a backend that is replaced", "people are locked out of their BMC", "controllers",
             Edit("build", r"if \((before)\) co_await", "false")),
    Mutation("read all parts of a host at each look as one of them cannot be", "BMCs are asked a hundred things every few minutes", "providers/redfish",
             Edit("read_details", r"age = (incomplete > 0 \? kUnreadPause\.after\(incomplete\) : kDetailsAge);", "incomplete > 0 ? base::Duration::zero() : kDetailsAge")),
    Mutation("ask for an erasure that was refused for ever", "a BMC gets a request every ten seconds for months", "providers/redfish",
             Edit("erase", r"if \((is_refusal\(error\.kind\(\)\))\)", "false")),
    Mutation("take no session for a refused shutdown", "power is cut though nothing was asked to shut down", "providers/redfish",
             Edit("not_now", r"ErrorKind::(session_limit);", "busy")),
    Mutation("take a BMC that accepted the credentials for one that gives sessions", "a host is suspended for a day by a restart", "providers/redfish",
             Edit("are_sessions_switched_off", r"(access_->way == Way::session)", "access_->is_proven")),
    Mutation("let a chassis that is closed to us keep a host from use", "a good host is not used", "providers/redfish",
             Edit("tag_places", r"places\.empty\(\) \|\| (!is_closed_to_us)", "true")),
    Mutation("ask for an expired password each minute", "a BMC is asked in vain for months", "providers/redfish",
             Edit("authorized", r"()if \(access_->password_expired_until", "if (false) ")),
    Mutation("read compressed answers without end", "one answer takes all memory", "providers/redfish",
             Edit("gunzip", r"if \((text\.size\(\) > most)\)", "false")),
    Mutation("take an answer that is too long for none", "people look for a broken cable", "providers/redfish",
             Edit("exchange", r"ErrorKind::outcome_unknown : ErrorKind::(unreadable)", "unreachable")),
    Mutation("say that doubtful credentials are accepted", "nobody corrects them", "providers/redfish",
             Edit("doubtful", r"ErrorKind::(doubted);", "busy")),
    Mutation("say nothing of a host that does not shut down", "its claim waits for ever without a reason", "providers/redfish",
             Edit("how_it_goes", r"!is_refused && (!is_late)", "true")),
    Mutation("leave the sessions of a dropped backend open", "people are locked out of their BMC", "controllers",
             Edit("erase", r"if \((!entry\.empty\(\) && entry\.mapped\(\)\.provider)\)", "false")),
    Mutation("keep the version of a Secret that changed", "a restart counts a refusal once more", "controllers",
             Edit("build", r"if \((entry\.version != credentials\.version)\)", "false")),
    Mutation("believe memory only beside cores", "people state what the BMC tells", "controllers",
             Edit("next_capacity", r"if \((told_memory > 0)\)", "told_memory > 0 && told_cores > 0")),
    Mutation("say nothing of a host whose deletion waits", "nobody knows what to do", "controllers",
             Edit("while_it_waits", r"if \((host\.metadata\.deletionTimestamp) &&", "false &&")),
    Mutation("undo what another cluster prepared", "its host boots something else", "providers/redfish",
             Edit("undo_preparation", r"if \((is_theirs)\)", "false")),
    Mutation("undo at a look what others prepare", "somebody's installation breaks off", "providers/redfish",
             Edit("look_at_boot", r"may_undo = (station->is_undo_due \|\| is_quiet);", "true")),
    Mutation("forget what a host was left with", "whoever has it boots our image", "providers/redfish",
             Edit("note_left", r"= (station\.is_undo_due \|\| [^;]+);", "false")),
    Mutation("remember for ever who refused an account", "hosts are lost until a restart", "providers/redfish",
             Edit("authorized", r"()if \(account_->refused_until", "if (false) ")),
    Mutation("take a BMC that starts for one without sessions", "good credentials count as refused", "providers/redfish",
             Edit("open_session", r"has_none && (access_->way == Way::session)", "false")),
    Mutation("let a part that cannot be read keep a host from use", "a good host is not used", "providers/redfish",
             Edit("read_part", r"()why = error\.complaint\.message;", "throw; ")),
    Mutation("believe what a Node says beyond its machine", "honest nodes are emptied for a liar", "controllers",
             Edit("within_its_machine", r"()if \(amount\.is_zero\(\)", "continue;\n        ")),
    Mutation("take a machine's own Node for a stranger's", "a person's claim waits for ever beside its machine", "controllers",
             Edit("must_heed_name", r"( && status\.bootstrapKeySHA256\.empty\(\) && !is_far_on)", "")),
    Mutation("make a second machine where the first is not shown", "two machines have one UUID and one MAC address", "controllers",
             Edit("take_up", r"if \((!node\.empty\(\))\)", "false")),
    Mutation("make a second machine for a claim without a status", "two machines have one UUID and one MAC address", "controllers",
             Edit("may_have_lost_status", r"if \((s\.went_back)\)", "false")),
    Mutation("take a claim that is older than the operator for a new one", "two machines have one UUID and one MAC address", "controllers",
             Edit("may_have_lost_status", r"metadata\.deletionTimestamp( \|\| s\.predates_us)", "")),
    Mutation("make a second machine while the first is half made", "two machines have one UUID and one MAC address", "controllers",
             Edit("half_made_of", r"if \((!is_of_another\(\*provider, claim, made\.record\))\)", "false")),
    Mutation("let any machine that cannot be read hold up a claim", "claims wait for a host that is down", "controllers",
             Edit("look", r"( && !is_of_another\(\*provider, claim, machine\.record\))", "")),
    Mutation("end a claim that lost its status before its machine is known", "a machine is left behind", "controllers",
             Edit("may_have_lost_status", r"if \((has_doubtful_machine\(status\))\)", "false")),
    Mutation("remove the copy of a claim's machine", "a copy that somebody restored is destroyed", "controllers",
             Edit("why_left_to_people", r"if \((!has_its_mark)\)", "true")),
    Mutation("start machines in an unknown mode", "a person who paused the operator is overruled", "controllers",
             Edit("only_watches", r"( \|\| hold->reason == reasons::kUnknownValue \|\| hold->reason == reasons::kNotSelected)", "")),
    Mutation("withdraw a claim whose Node serves", "a node in use is drained and removed", "controllers",
             Edit("superfluous_waits", r"( && !may_serve)", "")),
    Mutation("expect a node whose host is down", "pods wait for a host that stays down", "controllers",
             Edit("after_restart", r"kPoweredOff, ConditionStatus::(Unknown), reasons::kHostUnreachable", "True")),
    Mutation("say nothing of a machine that cannot be started", "nobody knows what a node waits for", "controllers",
             Edit("after_vain_restart", r"if \((!api::is_true\(status\.conditions, conditions::kPoweredOff\))\)", "false")),
    Mutation("take everyone who ends all guests for a host that goes down", "what a person switched off is switched on", "providers/proxmox",
             Edit("is_of_host_shutdown", r"if \((!was_started_since\(\*shutdown, boots\))\)", "false")),
    Mutation("ask a machine's own host alone who switched it off", "what a person switched off and moved is switched on", "providers/proxmox",
             Edit("start_again", r"(why = co_await why_left_off\(look, others_online\(look\.host, \*state\)\);)", "")),
    Mutation("take a full storage of images for one of disks", "no machine is made though there is room", "providers/proxmox",
             Edit("after_failure", r"(failed\.lacks_disk_room = false;)", "")),
    Mutation("count only machines that are told to be gone", "all claims of a provider are given up one by one", "controllers",
             Edit("report_vanished", r"vanished\.size\(\)( \+ untold), all", "")),
    Mutation("keep a book of addresses for each provider", "two machines have one address", "controllers",
             Edit("takes", r"return (std::ranges::any_of\([^;]+\));", "false")),
    Mutation("let equal ranges of different networks share a book", "a second site's addresses are exhausted", "controllers",
             Edit("may_be_one", r"if \((differ\(a\.backend, b\.backend\)) \|\|", "false")),
    Mutation("let a host go while its claim still looks for it", "the claim waits for ever for its host", "controllers",
             Edit("reconcile", r"!current->status\.claimRef( && !is_looked_for\(\*current\))", "")),
    Mutation("hold a host whose claim and provider are gone", "a deleted host stays for ever", "controllers",
             Edit("has_nobody", r"()if \(!host\.metadata\.deletionTimestamp", "co_return false;\n    ")),
    Mutation("keep rights that are being deleted", "a RoleBinding stays deleted for ever", "controllers",
             Edit("keep", r"is_renewed = (binding\.metadata\.deletionTimestamp && !namespace_ends)", "false")),
    Mutation("take what could not be looked at for nothing left", "a machine stays behind when its provider goes", "controllers",
             Edit("orphans_of", r"(for \(const auto& what : leftovers\.unseen\))", "for (const auto& what : std::vector<std::string>())")),
    Mutation("do not see that a Node is another claim's no more", "a claim waits for a Node that has nothing to do with it", "controllers",
             Edit("wake_for_nodes", r"changed\(shown\)(\.before_too\(\))", "")),
    Mutation("leave the Node of an attempt that joined too late", "the next machine of the host cannot join", "controllers",
             Edit("is_recorded", r"kRegistered\)( \|\| is_of_past)", "")),
    Mutation("believe a claim's record of its Node against its host's", "a stranger's Node is taken", "controllers",
             Edit("is_recorded", r"is_of_others = (is_given_to[^;]+);", "false")),
    Mutation("believe the list of machines about one that is taken up again", "a claim says that a machine on a dead host runs", "controllers",
             Edit("take_up", r"auto machine = (co_await as_it_stands\(observation\.provider, std::move\(found\)\));", "found")),
    Mutation("keep the files of a provider while its templates cannot go", "downloaded files are left, and nobody is told", "providers/proxmox",
             Edit("remove_all", r"(const auto of_files = co_await remover_\.remove_files\(\));", "const auto of_files = of_templates > base::Duration{} ? base::Duration{} : co_await remover_.remove_files()")),
    Mutation("decide by the clock of the operator's host", "machines are destroyed because a clock jumped", "kube",
             Edit("wall_now", r"if \((!offset_)\)", "true")),
    Mutation("follow a jump of the API server's clock at once", "every deadline is due at once", "kube",
             Edit("hear", r"(std::clamp\(heard_ - \*offset_, -step, step\))", "heard_ - *offset_")),
    Mutation("believe the time in a Node's condition", "a node is repaired because a kubelet's clock is wrong", "controllers",
             Edit("not_ready_since", r"(if \(recorded->status == ConditionStatus::True \|\| [^;]+;)", "return *since;")),
    Mutation("keep what a list proves to be undone", "the cache shows what never happened", "kube",
             Edit("proves_restore", r"if \((is_newer\(version, object->metadata\.resourceVersion\) && [^;]+)\) return", "false")),
    Mutation("do not notice that the Lease went back", "waiting pods are not seen after a restore", "kube",
             Edit("heed_version", r"if \((!is_newer\(last, version_\))\)", "true")),
    Mutation("leave off what a power cut switched off", "a cluster stays dark until a person starts its machines", "controllers",
             Edit("watch_power", r"decision\.step = (Step::start_machine);", "Step::nothing")),
    Mutation("look for machines in a list of a while ago", "two machines have one UUID and one MAC address", "providers/proxmox",
             Edit("list", r"view_\.state\((std::min\(kListAge, since_work\))\)", "kListAge")),
    Mutation("look for machines where the cluster has no quorum", "two machines have one UUID and one MAC address", "providers/proxmox",
             Edit("list", r"(co_await confirm_gone\(\);)", "co_await client_.confirm_cluster();")),
    Mutation("take the next creation's lock for the last one's", "a machine that comes is given up", "providers/proxmox",
             Edit("seen", r"locks_\.try_emplace\((uuid), Lock", "std::string()")),
    Mutation("repeat reads that fail without a pause that grows", "a thousand claims ask every three seconds", "providers/proxmox",
             Edit("ensure", r"not_ready\(error, (unread_\.begin\(uuid\))\)", "kRetry")),
    Mutation("never link again to what has the VMID of a template that could not be", "each machine has a copy of all disks", "providers/proxmox",
             Edit("read_source", r"disks = (base::joined[^;]+);", "std::to_string(source.vmid)")),
    Mutation("grant a right and take others away", "a person who follows a condition breaks the provider", "providers/proxmox",
             Edit("grant_commands", r"(privileges\.merge\(permissions\.at\(path\)\);)", "")),
    Mutation("cut the end of a long message", "nobody learns the cause", "base",
             Edit("shortened", r"beginning\(text, (shown \* 3 / 8)\)", "shown")),
    Mutation("let a provider go while a task still makes a VM", "a half-made VM is left behind, and nobody is told", "controllers",
             Edit("orphans_of", r"(for \(const auto& made : under_way\) add\(made\.message\);)", "")),
    Mutation("begin a session before the one that ended is gone", "a BMC has two sessions of ours", "providers/redfish",
             Edit("replace_session", r"(const auto pass = co_await access_->log_ins\.enter\(\"\"\);)", "")),
    Mutation("say nothing of a newer generation that is not understood", "tools wait for an object for ever", "controllers",
             Edit("is_held_back", r"(if \(!why\.empty\(\)\) after\.status\.observedGeneration = object->metadata\.generation;)", "")),
    Mutation("destroy beside another operator of the same machines", "a drill costs the machines of production", "providers/proxmox",
             Edit("require_sole_operator", r"auto why = (why_not_destroy\(\));", "std::string()")),
    Mutation("take the epoch of another operator for our own", "a drill costs the machines of production", "controllers",
             Edit("other_in", r"if \((!is_in_chain\(leader, record->epoch\))\)", "false")),
    Mutation("write the epoch into a copy of our machine", "machines of others are changed", "providers/proxmox",
             Edit("read_slot", r"if \((ownership_of\(config, vmid, \*identity, settings_\.managed_tag\(\)\) != Ownership::ours)\)", "false")),
    Mutation("destroy as soon as the epoch is written", "a drill costs machines before the original looks", "controllers",
             Edit("next_epoch", r"= (record == ours && sight\.now >= \*state\.waits \+ kEpochSettles);", "true")),
    Mutation("let a pool that a person turned off go on", "a tool that waits for it fails", "controllers",
             Edit("course_of", r"if \((is_turned_off\(reason\))\) return Course::settled;", "false")),
    Mutation("take each outage for one that waits for people", "a tool that waits fails within a second", "controllers",
             Edit("has_short_outage", r"return (!since \|\| now\.at < since->at \+ kShortOutage);", "false")),
    Mutation("keep the series of objects that are gone", "alerts about pools that nobody has any more", "operator",
             Edit("publish", r"if \((!next_\.contains\(labels\))\)", "false")),
]
