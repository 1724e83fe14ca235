// Asks for the document, draws it, and says how old it is.

const kVersion = "cli.kubenodesmith.parawell.cloud/v1alpha1";
const kInterval = 10_000;
const kLongestInterval = 60_000;
const kPatience = 15 * 60_000; // without an answer: then only the button asks again
const kShownAtFirst = window.matchMedia("(max-width: 700px)").matches ? 5 : 12;

const state = { shown: null, received: 0, failure: "", interval: kInterval, timer: 0, asking: false };

// A Part is a section with a list. A long list shows its beginning and has a filter box.
class Part {
  constructor(id, title, container, { folded = false, first = kShownAtFirst } = {}) {
    Object.assign(this, { id, container, first, most: first, items: [], note: h("span", { class: "note soft" }) });
    this.filter = h("input", { type: "search", placeholder: `Filter ${title.toLowerCase()}`, "aria-label": `Filter ${title.toLowerCase()}`, autocomplete: "off",
      oninput: () => { this.most = this.first; this.draw(); } });
    this.body = h("div", {});
    this.button = h("button", { type: "button", onclick: () => this.showMore() });
    this.shownOf = h("span", { class: "small soft" });
    this.more = h("div", { class: "more" }, this.button, this.shownOf);
    this.content = h("div", { id: `${id}-content` }, this.body, this.more);
    this.toggle = folded && h("button", { type: "button", "aria-expanded": "false", "aria-controls": `${id}-content`, onclick: () => this.open(this.content.hidden) }, "Show");
    this.content.hidden = folded;
    this.section = h("section", { class: "part", id, "aria-labelledby": `${id}-title` },
      h("div", { class: "head" }, h("h2", { id: `${id}-title` }, title), this.note, this.toggle, this.filter), this.content);
  }

  open(isOpen) {
    this.content.hidden = !isOpen;
    this.toggle.setAttribute("aria-expanded", String(isOpen));
    this.toggle.textContent = isOpen ? "Hide" : "Show";
    this.draw();
  }

  // Each item has the text that the filter searches, and a function that makes its element.
  set(items, note, empty) {
    Object.assign(this, { items, empty });
    this.note.textContent = note;
    this.section.hidden = items.length === 0 && !empty;
    this.draw();
  }

  draw() {
    const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = this.items.filter(item => words.every(word => item.text.includes(word)));
    this.filter.hidden = this.content.hidden || (this.items.length <= this.first && !words.length);
    if (this.content.hidden) return;
    const list = h(this.container.tag, { class: this.container.class }, found.slice(0, this.most).map(item => item.make()));
    this.body.replaceChildren(found.length ? list : h("p", { class: "empty" }, words.length ? "Nothing matches the filter." : this.empty));
    const rest = found.length - this.most;
    this.more.hidden = rest <= 0;
    this.button.textContent = `Show ${Math.min(rest, 50)} more`;
    this.shownOf.textContent = `${number(this.most)} of ${number(found.length)} shown`;
  }

  showMore() {
    this.most += 50;
    this.draw();
  }

  // Makes an item visible. Returns whether this part has it.
  reveal(id) {
    const item = this.items.find(each => each.id === id);
    if (!item) return false;
    if (this.content.hidden) this.open(true);
    if (!byId(id)) {
      this.filter.value = item.name;
      this.draw();
    }
    return true;
  }
}

const kCards = { tag: "div", class: "grid" };
const kWide = { tag: "div", class: "grid wide" };
const kRows = { tag: "ul", class: "rows" };
const timeline = h("section", { class: "part", id: "timeline", "aria-labelledby": "timeline-title" },
  h("div", { class: "head" }, h("h2", { id: "timeline-title" }, "Timeline"), h("span", { class: "note soft" })), h("div", {}));
const parts = {
  waiting: new Part("waiting", "Pods that wait for a node", kRows, { first: 5 }),
  pools: new Part("pools", "Pools", kCards),
  hosts: new Part("hosts", "Hosts", kWide),
  claims: new Part("claims", "Claims", kRows),
  providers: new Part("providers", "Providers and control planes", kCards),
  stays: new Part("stays", "Nodes that are kept", kRows, { folded: true }),
  decisions: new Part("decisions", "Recent decisions", kRows, { folded: true }),
};

const item = (kind, object, make, ...words) => ({
  id: idOf(kind, object), name: object.name, make, text: [nameOf(object), ...words].join(" ").toLowerCase() });

// Says what is wrong: the first trouble and the number of others.
function headline(troubles) {
  const [worst] = troubles;
  const kind = worst.kind === "controlplane" ? "control plane" : worst.kind;
  const others = troubles.length > 1 && h("span", { class: "soft" }, ` and ${counted(troubles.length - 1, "more problem")}`);
  if (worst.kind === "pod") return [h("a", { href: "#waiting" }, counted(worst.count, "pod")), worst.count === 1 ? " waits" : " wait", `: ${worst.reason}`, others];
  const what = worst.count === 1 ? `${kind[0].toUpperCase()}${kind.slice(1)} ` : `${number(worst.count)} ${kind}s: `;
  return [what, linkTo(worst.kind, worst.objects[0]), worst.count > 1 && ", …", `: ${worst.reason}`, others];
}

function firstLine(seen) {
  const { troubles } = seen;
  const now = byId("now");
  now.className = `now ${troubles.length ? "bad" : seen.notes.length ? "warn" : "good"}`;
  const line = troubles.length === 0 ? [seen.notes[0] || "Everything is well"] : headline(troubles);
  const heading = h("span", {}, line);
  if (byId("first-line").textContent !== heading.textContent) byId("first-line").replaceChildren(heading);
  document.title = troubles.length ? `${troubles.length} ⚠ KubeNodeSmith` : "KubeNodeSmith";
  const lines = troubles.map(trouble => troubleLine(trouble, seen.time));
  const notes = seen.notes.slice(troubles.length ? 0 : 1).map(note => h("p", { class: "small soft" }, note));
  byId("troubles").replaceChildren(...(troubles.length ? [worstLine(troubles[0], seen.time)] : []),
    ...(lines.length > 1 ? [fold("troubles", `Show ${lines.length - 1} more`, () => lines.slice(1))] : []), ...notes);
}

const worstLine = (trouble, now) => h("p", { class: "worst message" }, trouble.message,
  trouble.since && h("span", { class: "soft" }, `${trouble.message ? " " : ""}(since ${seconds(between(trouble.since, now))})`));

function troubleLine(trouble, now) {
  const named = trouble.objects.slice(0, 3).flatMap((object, i) => [i > 0 && ", ",
    trouble.kind === "pod" ? h("a", { href: "#waiting" }, nameOf(object)) : linkTo(trouble.kind, object)]);
  const rest = trouble.count - Math.min(3, trouble.objects.length);
  return h("div", { class: "trouble" },
    h("p", {}, chip(trouble.reason, "bad"), " ", h("strong", {}, trouble.kind), " ", h("span", { class: "name" }, named, rest > 0 && ` and ${number(rest)} more`),
      trouble.since && h("span", { class: "soft" }, `, since ${seconds(between(trouble.since, now))}`)),
    trouble.message && h("p", { class: "message small" }, trouble.message));
}

function draw(seen) {
  const now = seen.time;
  firstLine(seen);
  const modes = seen.controlPlanes.map(plane => plane.mode);
  byId("modes").replaceChildren(...[...new Set(modes)].map(mode => chip(mode, mode === "Active" ? "good" : "warn")));
  byId("facts").textContent = [seen.counts.nodes !== null && counted(seen.counts.nodes, "node"), counted(seen.counts.claims, "claim"),
    seen.counts.pods !== null && counted(seen.counts.pods, "pod"), seen.counts.waitingPods !== null && `${number(seen.counts.waitingPods)} waiting`].filter(Boolean).join(" · ");

  timeline.querySelector(".note").textContent = sinceWhen(seen.history, now);
  timeline.lastChild.replaceChildren(...charts(seen.history));
  parts.waiting.set(seen.troubles.filter(trouble => trouble.kind === "pod").sort((a, b) => b.count - a.count).map(trouble => ({
    text: [trouble.reason, trouble.message, ...trouble.objects.map(nameOf)].join(" ").toLowerCase(), make: () => waiting(trouble, now) })),
  seen.counts.waitingPods ? `${counted(seen.counts.waitingPods, "pod")}, by cause` : "", "");
  parts.pools.set(seen.pools.map(each => item("pool", each, () => pool(each, now), each.provider, each.reason)), "use against limits", "There is no NodeSmithPool.");
  const virtual = seen.providers.flatMap(owner => owner.hosts.map(host => ({ ...host, namespace: owner.namespace, provider: owner.name })));
  parts.hosts.set([
    ...virtual.map(host => item("vmhost", { namespace: `${host.namespace}/${host.provider}`, name: host.name }, () => virtualizationHost(host), ...host.machines.map(machine => machine.claim))),
    ...seen.hosts.map(host => item("host", host, () => bareMetalHost(host), host.phase, host.claim)),
  ], counted(virtual.length + seen.hosts.length, "host"), "No provider has reported a host.");
  parts.claims.set(seen.claims.map(each => item("claim", each, () => claim(each, now), each.phase, each.pool, each.host, each.node)),
    seen.counts.claims > seen.claims.length ? `${number(seen.claims.length)} of ${number(seen.counts.claims)}` : counted(seen.claims.length, "claim"), "There is no NodeSmithClaim.");
  parts.providers.set([...seen.controlPlanes.map(each => item("controlplane", each, () => controlPlane(each), each.mode)),
    ...seen.providers.map(each => item("provider", each, () => provider(each, seen.hosts), each.type, each.reason))], "", "There is no NodeSmithProvider.");
  parts.stays.set((seen.stays || []).map(each => ({ text: Object.values(each).join(" ").toLowerCase(), make: () => keptNode(each) })),
    `${counted((seen.stays || []).length, "node")} could be removed`, "");
  parts.decisions.set((seen.decisions || []).map(each => ({ text: Object.values(each).join(" ").toLowerCase(), make: () => decision(each, now) })),
    "of this process", "");
  byId("footer").textContent = [seen.program, seen.managedNamespaces && `managed namespaces: ${seen.managedNamespaces}`].filter(Boolean).join(" · ");
}

// Puts the focus back on what is drawn anew, and draws.
function redraw(seen) {
  const focused = document.activeElement;
  const key = focused?.closest("details")?.dataset.key;
  const link = focused?.getAttribute?.("href");
  const owner = focused?.closest?.("[id]")?.id;
  draw(seen);
  if (document.contains(focused)) return;
  const again = link ? [...(byId(owner) || document).querySelectorAll("a")].find(each => each.getAttribute("href") === link)
    : key ? document.querySelector(`details[data-key="${CSS.escape(key)}"] summary`) : null;
  again?.focus({ preventScroll: true });
}

function follow() {
  const id = decodeURI(location.hash.slice(1));
  if (!id || !state.shown) return;
  document.querySelectorAll(".marked").forEach(each => each.classList.remove("marked"));
  // A host of bare metal has another kind than a host of virtual machines, and a claim does not know which it has.
  const [kind, namespace, , host] = id.split("/");
  const ids = kind === "vmhost" ? [id, `host/${namespace}/${host}`] : [id];
  ids.some(each => Object.values(parts).some(part => part.reveal(each)));
  const found = ids.map(byId).find(Boolean);
  if (!found) return;
  if (found.classList.contains("card") || found.classList.contains("row")) found.classList.add("marked");
  found.scrollIntoView({ block: "start" });
}

function tell() {
  const age = seconds((Date.now() - state.received) / 1000);
  const line = byId("freshness");
  line.classList.toggle("stale", Boolean(state.failure));
  const text = !state.failure ? (state.shown ? `Updated ${age} ago` : "Loading")
    : state.shown ? `Last update ${age} ago: ${state.failure}` : state.failure;
  byId("freshness-text").textContent = text;
  byId("retry").hidden = state.timer !== 0 || state.asking || !state.failure;
}

const refusals = { 401: "you are not logged in", 403: "you may not read this", 404: "the page is off" };

async function read() {
  const answer = await fetch("?format=json", { cache: "no-store", signal: AbortSignal.timeout(30_000) })
    .catch(() => { throw new Error("no answer"); });
  if (!answer.ok) throw new Error(refusals[answer.status] || (await answer.text()).slice(0, 300).trim() || `status ${answer.status}`);
  const seen = await answer.json().catch(() => { throw new Error("the answer is not a document"); });
  if (seen.apiVersion !== kVersion || seen.kind !== "StatusPage") throw new Error("the document has another version: reload this page");
  return seen;
}

async function look() {
  clearTimeout(state.timer);
  state.timer = 0;
  if (state.asking) return;
  state.asking = true;
  try {
    const seen = await read();
    const isFirst = !state.shown;
    Object.assign(state, { shown: seen, received: Date.now(), failure: "", interval: kInterval });
    redraw(seen);
    if (isFirst) follow();
  } catch (error) {
    state.received ||= Date.now();
    state.failure = error.message;
    state.interval = Math.min(kLongestInterval, 2 * state.interval);
  }
  state.asking = false;
  const goesOn = !state.failure || Date.now() - state.received < kPatience;
  if (goesOn && !document.hidden) state.timer = setTimeout(look, state.interval);
  tell();
}

byId("sections").append(parts.waiting.section, timeline, ...["pools", "hosts", "claims", "providers", "stays", "decisions"].map(id => parts[id].section));
for (const section of document.querySelectorAll("section.part")) section.hidden = section.id !== "timeline";
addEventListener("hashchange", follow);
document.addEventListener("visibilitychange", () => { if (!document.hidden) look(); });
byId("retry").addEventListener("click", look);
setInterval(tell, 1000);
look();
