#!/usr/bin/env python3
"""Fails on a commit whose subject is not `area: Imperative`: at most 72 characters, without a final period.

The area is a folder, a component or a list of them in lower case, such as "kube" or "proxmox, redfish". The verb is in the
imperative ("Add", neither "Added" nor "Adds"). Merge commits are exempt, and so are commits written before the rule.

    hack/check_subjects.py [RANGE]            such as origin/main..HEAD

Without a range the check takes the commits since origin/main. In a shallow clone, or without that branch, it takes the last 20.
"""
import re
import subprocess
import sys

LONGEST = 72
LAST = 20
# Authors wrote older commits before this rule: 2026-11-29 12:43:02 UTC.
RULE_SINCE = 1795956182
SHAPE = re.compile(r"(?P<area>[a-z0-9][a-z0-9 ./_-]*(?:, [a-z0-9][a-z0-9 ./_-]*)*): (?P<first>\S+)")
NO_VERBS = set("A All An Any Each Every How If It Its More No None Not One Only Some That The These This Those What When Where "
               "Which Who Whose Why".split())
# These imperatives end like other forms of a verb.
IMPERATIVES = set("Alias Bias Bring Canvas Embed Fling Ping Ring Shed Shred Spring String Swing Wed".split())
OTHER_FORM = re.compile(r"[A-Z][a-z]*(?:(?<!e)ed|ing|(?<![isu])s)")


def git(*arguments):
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def faults(subject):
    """Yields each fault of a subject."""
    if len(subject) > LONGEST:
        yield f"has {len(subject)} characters, at most {LONGEST} are allowed"
    if subject.endswith("."):
        yield "ends with a period"
    found = SHAPE.match(subject)
    if not found:
        yield 'is not "area: Imperative", with the area in lower case'
        return
    first = found["first"].rstrip(",;:.")
    if not first[0].isupper():
        yield f'begins "{first}" in lower case'
    elif first in NO_VERBS or (first not in IMPERATIVES and OTHER_FORM.fullmatch(first)):
        yield f'begins "{first}", which is no verb in the imperative'


def default_range():
    """Returns the arguments of git log that select the commits to check."""
    is_whole = git("rev-parse", "--is-shallow-repository") == "false"
    if is_whole and git("rev-parse", "--verify", "--quiet", "origin/main"):
        return ["origin/main..HEAD"]
    return [f"-{LAST}", "HEAD"]


def commits(selection):
    """Returns (hash, subject) of each commit under the rule; None if git cannot list them."""
    text = git("log", "--no-merges", "--format=%h%x00%at%x00%s", *selection, "--")
    if text is None:
        return None
    entries = [line.split("\0", 2) for line in text.split("\n") if line]
    return [(name, subject) for name, time, subject in entries if int(time) > RULE_SINCE]


def main():
    if git("rev-parse", "--git-dir") is None:
        print("subjects: there is no git history here")
        return 0
    selection = sys.argv[1:] or default_range()
    listed = commits(selection)
    if listed is None:
        print(f"subjects: git cannot list {' '.join(selection)}", file=sys.stderr)
        return 2
    found = [f'{name}: "{subject}" {fault}' for name, subject in listed for fault in faults(subject)]
    print("\n".join(found) if found else f"subjects: {len(listed)} commits are named as they should be")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
