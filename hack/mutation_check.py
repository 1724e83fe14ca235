#!/usr/bin/env python3
"""Breaks the operator on purpose, one way at a time, and shows that the simulation notices.

Works on a copy of the sources (build/mutation), never on yours. Each mutation replaces one piece of text that
must occur exactly once, so that a mutation whose code has changed is noticed and not skipped. Then seeds run one
after the other until one is violated that the unchanged operator passes. Prints a table in Markdown
(docs/simulation.md) and exits with 1 if a mutation survives.

    hack/mutation_check.py [--only NAME]... [--seeds N] [--start S] [--jobs N] [--table FILE] [--texts]
"""
import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import re
import resource
import shutil
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
COPY = ROOT / "build" / "mutation" / "source"
TREE = COPY / "build" / "release"  # the same paths, relative to the sources, as yours: so the compiler cache knows them
SOUND = ROOT / "build" / "mutation" / "simulation"  # built from the unchanged sources
MOST_CPU_SECONDS = 120  # for one seed: what takes longer never ends


@dataclasses.dataclass
class Mutation:
    name: str
    harm: str
    file: str
    old: str
    new: str
    include: str = ""  # a header that the new text needs
    also: tuple[str, str] | None = None  # a second text of that file and what replaces it

    def edits(self):
        return [(self.old, self.new)] + ([self.also] if self.also else [])


MUTATIONS = [
    Mutation("skip the ownership check when destroying", "machines of others are destroyed",
             "providers/proxmox/remove_step.cpp",
             "        case Ownership::contradictory:\n            break;",
             "        case Ownership::contradictory:\n            return for_our_machine(seen);"),
    Mutation("ignore a task's exit status", "a failed clone or start passes for a machine",
             "providers/proxmox/wire/task_status.cpp",
             "status.outcome = TaskOutcome::failed;", "status.outcome = TaskOutcome::succeeded;"),
    Mutation("report Launched before the machine exists", "the claim waits for a Node that cannot come",
             "controllers/claim/decide/launch.cpp",
             "        set(status, conditions::kLaunched, ConditionStatus::False, reasons::kLaunching,\n"
             "            where + \" is about",
             "        set(status, conditions::kLaunched, ConditionStatus::True, reasons::kLaunching,\n"
             "            where + \" is about"),
    Mutation("call a machine gone while its removal is under way", "the machine leaks if the task fails",
             "controllers/claim/decide/cleanup.cpp",
             "        set(status, conditions::kMachineDeleted, ConditionStatus::False,\n"
             "            is_slow ? kRemovalStalled : reasons::kDeleting, busy->message, s.now);",
             "        set(status, conditions::kMachineDeleted, ConditionStatus::True,\n"
             "            is_slow ? kRemovalStalled : reasons::kDeleting, busy->message, s.now);"),
    Mutation("drop the finalizer when the provider refuses", "the machine leaks", "controllers/claim/decide/cleanup.cpp",
             "set(status, conditions::kMachineDeleted, ConditionStatus::False, blocked->reason, blocked->message,\n"
             "            s.now);",
             "set(status, conditions::kMachineDeleted, ConditionStatus::True, blocked->reason, blocked->message,\n"
             "            s.now);"),
    Mutation("count nothing against a pool's limits", "more is bought than the user allows",
             "controllers/services/reservations.cpp",
             "    const auto used = ledger::at_least(ledger::usage_of(pool.status.reserved), known_usage(pool));\n"
             "    return {ledger::limits_of(pool.spec), used};",
             "    return {ledger::limits_of(pool.spec), {}};"),
    Mutation("forget the ledger of a pool", "stale caches and two leaders buy more than the user allows",
             "controllers/services/reservations.cpp",
             "    const auto used = ledger::at_least(ledger::usage_of(pool.status.reserved), known_usage(pool));\n",
             "    const auto used = known_usage(pool);\n",
             also=("    if (reserved.nodes <= known_usage(pool).nodes) return std::nullopt;",
                   "    if (reserved.nodes >= 0) return std::nullopt;")),
    Mutation("start the next attempt before the last machine is gone", "one claim has two machines",
             "controllers/claim/decide/lifecycle.cpp",
             "        again.look_again = again.status.nextRetryTime;\n        return decide_cleanup(s, again);",
             "        again.look_again = again.status.nextRetryTime;\n        return again;"),
    Mutation("remove nodes without draining them", "running pods are killed", "controllers/claim/decide/cleanup.cpp",
             "    if (progress.done && settled) {", "    if (settled) {"),
    Mutation("delete pods instead of evicting them", "disruption budgets are broken", "controllers/services/drain.cpp",
             "    for (const auto& pod : plan.evict) co_await evict(pod, progress);",
             "    for (const auto& pod : plan.evict)\n"
             "        co_await kill(pod, api::Time(clock_.wall_now() + std::chrono::seconds{30}));\n"
             "    for (const auto& pod : plan.evict) progress.waiting.push_back(name_of(*pod));"),
    Mutation("know Nodes by their name", "a stranger's Node passes for the claim's",
             "controllers/claim/decide/observation.cpp",
             "    if (named && named != result.node) {",
             "    if (named && !result.node) result.node = named;\n    if (named && named != result.node) {"),
    Mutation("never collect orphans", "machines leak", "controllers/garbage_collection.cpp",
             "        if (!in_use && overdue) obstacle = co_await remove(object, backend, machine);",
             "        if (!in_use && overdue) obstacle.clear();"),
    Mutation("forget what was bought for a pod", "a wrong prediction buys for ever",
             "controllers/provisioning/predictions.hpp",
             "inline constexpr int kMostPurchasesPerHour = 3;", "inline constexpr int kMostPurchasesPerHour = 1000;"),
    Mutation("log the bootstrap token", "whoever reads logs can join machines",
             "controllers/claim/act/boot_sources.cpp",
             "        co_return bootstrap::nocloud_image(seed);",
             "        base::log::info(\"Joining\", {{\"token\", token.text()}});\n"
             "        co_return bootstrap::nocloud_image(seed);", include="base/log.hpp"),
    Mutation("write a status on each pass", "the API server is never left in peace",
             "controllers/provider_status.cpp",
             "    for (auto& next : updates) {", "    status.conditions.clear();\n    for (auto& next : updates) {"),
    Mutation("say nothing about pods that get no node", "users cannot tell why a pod waits",
             "controllers/provisioning/announcements.cpp",
             "        announcer_.say(kube::target_of(*refused.pod), kube::EventType::warning, \"NoNodeForPod\",\n"
             "                       \"no node can be created for the pod: \" + joined(refused.reasons));",
             "        static_cast<void>(joined(refused.reasons));"),
    Mutation("wait for ever for a machine that never joins", "a paid machine stands idle, pods wait",
             "controllers/claim/decide/registration.cpp",
             "    if (deadline <= s.now) {\n        return give_up(s, reasons::kRegistrationTimeout,",
             "    if (deadline.at.time_since_epoch().count() == 1) {\n"
             "        return give_up(s, reasons::kRegistrationTimeout,"),
    Mutation("delete the Node before its machine is gone", "pods start elsewhere while they still run here",
             "controllers/claim/decide/cleanup.cpp",
             "    if (!status.machineID.empty() && !removal_ended(status)) {",
             "    if (s.node && service) return {Step::delete_node, status, std::nullopt};\n"
             "    if (!status.machineID.empty() && !removal_ended(status)) {"),
    Mutation("call a machine kept that still runs", "it takes room, and may join, beside all limits",
             "controllers/claim/decide/keeping.cpp",
             "    if (std::holds_alternative<providers::Stopped>(result)) {",
             "    if (std::holds_alternative<providers::RemovalInProgress>(result)) {"),
    Mutation("keep every machine that never joined", "they pile up", "controllers/claim/decide/keeping.cpp",
             "!s.is_superseded && !stated_gone(s)", "!stated_gone(s)"),
    Mutation("remove as many nodes at once as are empty", "scaleDown.maxConcurrent means nothing",
             "controllers/disruption/blocks.cpp",
             "    if (most > 0 && leaving >= most) {", "    if (most > 0 && leaving >= 1000 * most) {"),
    Mutation("approve whatever a token asks for", "who reads a machine's boot data becomes any Node", "bootstrap/approval.cpp",
             "    if (auto fault = client_fault(spec, asked, joiner->node_name); !fault.empty())",
             "    if (auto fault = client_fault(spec, asked, joiner->node_name); fault.size() > 1000)"),
    Mutation("approve a second key", "a thief of the token is the Node beside its machine", "bootstrap/approval.cpp",
             "    if (!joiner->key_sha256.empty() && joiner->key_sha256 != asked.key_sha256)",
             "    if (joiner->key_sha256.size() == 1 && joiner->key_sha256 != asked.key_sha256)"),
    Mutation("forget which VMID was chosen", "a crash leaves a machine that the claim does not know",
             "controllers/claim/decide/launch.cpp",
             "    status.machineID = machine.record.machine_id;",
             "    if (machine.state != providers::MachineState::placed) status.machineID = machine.record.machine_id;"),
    Mutation("close the pool for one claim", "pods that fit elsewhere wait for a machine that has no room",
             "controllers/provisioning/supply.cpp",
             "        supply.gate = gate_of(facts, now);",
             "        supply.gate = gate_of(facts, now);\n"
             "        for (const auto& claim : claims) {\n"
             "            if (!lacks_room(*claim) && !failed_for_room(*claim)) continue;\n"
             "            supply.gate.open = false;\n"
             "            supply.gate.message = \"a claim has no room\";\n"
             "        }", include="controllers/state/room.hpp"),
    Mutation("expect less than was bought", "machines are bought again while they come",
             "controllers/provisioning/machine_offer.cpp",
             "    return scheduling::expected_allocatable(entry, {size.cpuCores, size.memoryMiB});",
             "    auto expected = scheduling::expected_allocatable(entry, {size.cpuCores, size.memoryMiB});\n"
             "    expected.erase(\"ephemeral-storage\");\n"
             "    return expected;"),
    Mutation("believe the UUID that a claim's status notes", "the Nodes of others are drained",
             "controllers/state/node_search.cpp",
             "    if (!provider || is_adopted(claim)) return noted;",
             "    if (!provider || !noted.empty()) return noted;"),
    Mutation("believe a status that says its machine was adopted", "the Nodes of others are drained",
             "controllers/state/node_search.cpp",
             "    if (is_proven_by_label(informers, claim, node)) return true;",
             "    if (is_proven_by_label(informers, claim, node) || is_adopted(claim)) return true;",
             also=("    if (is_labelled(node, claim)) return {};",
                   "    if (is_labelled(node, claim) || is_adopted(claim)) return {};")),
    Mutation("count a leaving claim as coming", "pods wait for a machine that goes",
             "controllers/provisioning/snapshot.cpp",
             "        } else if (!disruption::is_staying(claim)) {\n            if (!node)",
             "        } else if (!disruption::is_staying(claim) && node) {\n            if (!node)",
             also=("            if (!node && !can_be_waited_for(claim, provider, now_)) return;",
                   "            if (!node && disruption::is_staying(claim) &&\n"
                   "                !can_be_waited_for(claim, provider, now_))\n"
                   "                return;")),
]


def run(command, **options):
    return subprocess.run([str(word) for word in command], text=True, capture_output=True, check=False, **options)


def copy_sources():
    """The files that git tracks, as they are in the working tree; unchanged ones keep their time and are not rebuilt."""
    listed = run(["git", "-C", ROOT, "ls-files", "-z"]).stdout.split("\0")
    wanted = {name for name in listed if name and (ROOT / name).is_file()}
    for old in COPY.rglob("*"):
        if old.is_file() and old.relative_to(COPY).as_posix() not in wanted:
            old.unlink()
    for name in wanted:
        source, target = ROOT / name, COPY / name
        if target.exists() and target.read_bytes() == source.read_bytes():
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def build():
    if not (TREE / "build.ninja").exists():
        configured = run(["cmake", "--preset", "release"], cwd=COPY)
        if configured.returncode:
            sys.exit(configured.stdout + configured.stderr)
    return run(["ninja", "-C", TREE, "bin/simulation"])


def violation(program, seed):
    """The first invariant that this seed violates, in either variety of worlds, or None."""
    return violation_in(program, seed) or violation_in(program, seed, "--of-users")


def violation_in(program, seed, *variety):

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_CPU_SECONDS, MOST_CPU_SECONDS))

    ended = run([program, "--seeds", 1, "--start", seed, "--violations", 2, *variety], preexec_fn=limit)
    if ended.returncode == 0:
        return None
    found = re.search(r"^seed \d+: ([^:]+):", ended.stdout, re.M)
    if found:
        return found[1]
    if ended.returncode == -signal.SIGKILL:
        return "each seed ends"
    return "the program ended: " + (ended.stderr.strip().splitlines() or [f"exit code {ended.returncode}"])[-1][:80]


def fits(mutation, text):
    return all(text.count(old) == 1 for old, _ in mutation.edits())


def mutate(mutation):
    """Changes the copy; returns its original text, or None if the text to replace is not there exactly once."""
    path = COPY / mutation.file
    original = path.read_text()
    if not fits(mutation, original):
        return None
    text = original
    for old, new in mutation.edits():
        text = text.replace(old, new)
    if mutation.include:
        text = f'#include "{mutation.include}"\n' + text
    path.write_text(text)
    return original


def build_mutated(mutation, program):
    """Leaves the mutated simulation at `program`; says why not if it cannot be built."""
    original = mutate(mutation)
    if original is None:
        return "its text is not in the source exactly once"
    try:
        built = build()
    finally:
        (COPY / mutation.file).write_text(original)
    if built.returncode:
        return "does not compile: " + built.stdout[-600:]
    keep_program(program)
    return None


def keep_program(target):
    target.unlink(missing_ok=True)
    shutil.copy(TREE / "bin" / "simulation", target)


def judge(program, seeds, start):
    """What the simulation says of a mutated operator: (caught, by which invariant, how many seeds were needed)."""
    for seed in range(start, start + seeds):
        invariant = violation(program, seed)
        # A seed proves nothing if it finds fault with the unchanged operator too.
        if invariant and violation(SOUND, seed) is None:
            return True, invariant, seed - start + 1
    return False, "survived", seeds


def check(mutations, args):
    """Yields (mutation, caught, by what, seeds needed). Builds one mutation while the seeds of others run."""
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        futures = {}
        for number, mutation in enumerate(mutations):
            program = SOUND.with_name(f"simulation-{number}")
            obstacle = build_mutated(mutation, program)
            if obstacle:
                yield mutation, False, obstacle, 0
                continue
            futures[pool.submit(judge, program, args.seeds, args.start)] = mutation
            for future in [future for future in futures if future.done()]:
                yield futures.pop(future), *future.result()
        for future in concurrent.futures.as_completed(futures):
            yield futures[future], *future.result()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="mutations whose name contains this")
    parser.add_argument("--seeds", type=int, default=1500, help="at most so many for each mutation")
    parser.add_argument("--start", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="so many mutations run seeds at a time")
    parser.add_argument("--texts", action="store_true", help="only look whether the texts to replace are there")
    parser.add_argument("--table", type=pathlib.Path, help="write the table to this file as well")
    args = parser.parse_args()
    chosen = [m for m in MUTATIONS if not args.only or any(part in m.name for part in args.only)]
    if not chosen:
        sys.exit(f"no mutation has a name with {args.only}")
    if args.texts:
        stale = [m.name for m in chosen if not fits(m, (ROOT / m.file).read_text())]
        sys.exit(f"texts that are not in the source exactly once: {', '.join(stale)}" if stale else 0)
    copy_sources()
    built = build()
    if built.returncode:
        sys.exit("the unchanged sources do not build:\n" + built.stdout[-2000:])
    keep_program(SOUND)
    header = ["| mutation | what it breaks | caught by | seeds needed |", "|---|---|---|---|"]
    print("\n".join(header), flush=True)
    lines, survivors = {}, 0
    for mutation, caught, by, needed in check(chosen, args):
        survivors += not caught
        found = by if caught else f"**{by}**"
        lines[mutation.name] = f"| {mutation.name} | {mutation.harm} | {found} | {needed} |"
        print(lines[mutation.name], flush=True)
    if args.table:
        args.table.write_text("\n".join(header + [lines[mutation.name] for mutation in chosen]) + "\n")
    print(f"{len(chosen) - survivors} of {len(chosen)} caught")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
