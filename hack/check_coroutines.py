#!/usr/bin/env python3
"""Rejects co_await expressions that some compilers translate wrongly (g++ 12: double free, illegal instruction).

Rule: the operand of co_await is a call whose arguments are names, literals or calls. It must not be in the condition of if or
switch, in a conditional expression, beside a braced temporary, or beside a lambda that captures by value. Hoist everything else
into a named local. Usage: check_coroutines.py FILE...
"""
import re
import sys

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
LAMBDA = re.compile(r"(?<![\w\])])\s*\[([^\]]*)\]\s*(?=[({<]|mutable)")
BRACED = re.compile(r"[(,=]\s*\{|\b[A-Z]\w*(<[^;]*>)?\s*\{|\bco_return\s+\w+\s*\{")
CONDITION = re.compile(r"\b(if|switch)\s*(constexpr\s*)?\($")


def without_noise(text):
    """Returns the text with blanked comments and literals; offsets and newlines are kept."""
    return NOISE.sub(lambda m: re.sub(r"[^\n]", " " if m.group()[0] == "/" else "x", m.group()), text)


def end_of_block(text, start):
    """Returns the offset just after the brace that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += (text[i] == "{") - (text[i] == "}")
        if depth == 0:
            return i + 1
    return len(text)


def start_of_expression(text, at):
    depth = 0
    while at > 0:
        char = text[at - 1]
        if char in ")]":
            depth += 1
        elif char in "([":
            if depth == 0 and re.search(r"\b(if|switch|while|for)\s*(constexpr\s*)?$", text[: at - 1]):
                break
            depth = max(0, depth - 1)
        elif depth == 0 and char in ";{}":
            break
        at -= 1
    return at


def end_of_expression(text, at):
    depth = 0
    while at < len(text):
        char = text[at]
        if char in "([{":
            depth += 1
        elif char in ")]}":
            if depth == 0:
                break
            depth -= 1
        elif char == ";" and depth == 0:
            break
        at += 1
    return at


def lambdas(expression):
    for found in LAMBDA.finditer(expression):
        brace = expression.find("{", found.end())
        if brace >= 0:
            yield found.group(1), found.start(), end_of_block(expression, brace)


def captures_by_value(captures):
    names = (name.strip() for name in captures.split(","))
    return any(name and not name.startswith("&") and name != "this" for name in names)


def problems_at(text, at):
    start, end = start_of_expression(text, at), end_of_expression(text, at)
    expression = text[start:end]
    condition = CONDITION.search(text[:start].rstrip())
    if condition and text[end : end + 1] == ")":
        yield f"co_await in the condition of {condition.group(1)}"
        return
    for captures, first, last in reversed(list(lambdas(expression))):
        if start + first <= at < start + last:
            continue
        if captures_by_value(captures):
            yield f"lambda capturing by value [{captures}] inside a co_await expression"
        expression = expression[:first] + " " * (last - first) + expression[last:]
    if re.search(r"\?[^:]*co_await|co_await[^;]*\?", expression):
        yield "co_await in a conditional expression"
    if BRACED.search(expression) or re.search(r"^co_await[^;]*\w\s*\{", expression[at - start :]):
        yield "braced temporary in a co_await expression"


def check(path):
    with open(path, encoding="utf-8") as file:
        text = without_noise(file.read())
    for found in re.finditer(r"\bco_await\b", text):
        line = text.count("\n", 0, found.start()) + 1
        for problem in problems_at(text, found.start()):
            yield f"{path}:{line}: {problem}; hoist it into a named local"


def main():
    found = list(dict.fromkeys(line for path in sys.argv[1:] for line in check(path)))
    print("\n".join(found) if found else "coroutines: no doubtful co_await expression")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
