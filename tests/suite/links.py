"""Whether links within this tree's Markdown lead somewhere: the file, and the heading within it."""

import os
import re
import urllib.parse

LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
FENCE = re.compile(r"^(```|~~~).*?^\1\s*$", re.M | re.S)
HEADING = re.compile(r"^#{1,6}\s+(.+?)\s*#*\s*$", re.M)
ELSEWHERE = re.compile(r"^[a-z][a-z0-9+.-]*:", re.I)


def prose(path):
    with open(path) as file:
        return FENCE.sub("", file.read())


def anchors(path):
    """The fragments of a file's headings, as code hosts make them."""
    made, found = {}, set()
    for heading in HEADING.findall(prose(path)):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")
        count = made.get(slug, 0)
        made[slug] = count + 1
        found.add(slug if count == 0 else f"{slug}-{count}")
    return found


def fault_of(path, link):
    place, _, fragment = urllib.parse.unquote(link).partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(path), place)) if place else path
    if not os.path.exists(target):
        return f"{path}: {link}: there is no {target}"
    if fragment and target.endswith(".md") and fragment not in anchors(target):
        return f"{path}: {link}: {target} has no heading #{fragment}"
    return None


def check(paths):
    faults = []
    for path in paths:
        for match in LINK.finditer(re.sub(r"`[^`\n]*`", "", prose(path))):
            link = match[1]
            if not ELSEWHERE.match(link):
                faults.append(fault_of(path, link))
    return "\n".join(fault for fault in faults if fault)
