// The sections of the page, each from one part of the document.

function pool(object, now) {
  const { limits, used } = object;
  return h("article", { class: "card", id: idOf("pool", object) },
    h("div", { class: "top" }, h("h3", { class: "name" }, nameOf(object)), readiness(object)),
    h("p", { class: "small soft" }, counted(object.readyNodes, "node"), " ready",
      object.pendingNodes > 0 && `, ${number(object.pendingNodes)} coming`,
      limits.minNodes > 0 && `, at least ${number(limits.minNodes)}`, " on ",
      linkTo("provider", { namespace: object.namespace, name: object.provider }, object.provider)),
    cause(object),
    h("div", { class: "meters" }, meter("Nodes", used.nodes, limits.maxNodes, number),
      meter("CPU cores", used.cpuCores, limits.cpuCores, number), meter("Memory", used.memoryMiB, limits.memoryMiB, memory)),
    poolChanges(object, now));
}

function poolChanges(object, now) {
  const words = [];
  if (object.lastScaleUp) words.push(`grew ${seconds(between(object.lastScaleUp, now))} ago`);
  if (object.lastScaleDown) words.push(`shrank ${seconds(between(object.lastScaleDown, now))} ago`);
  if (object.nextRetry) words.push(`${counted(object.failures, "failure")}, creates machines again in ${seconds(between(now, object.nextRetry))}`);
  return words.length ? h("p", { class: "small soft" }, words.join("; ")) : null;
}

function provider(object, bareMetal) {
  return h("article", { class: "card", id: idOf("provider", object) },
    h("div", { class: "top" }, h("h3", { class: "name" }, nameOf(object)), readiness(object)),
    h("p", { class: "small soft" }, [object.type, object.version, counted(object.hosts.length || bareMetal.filter(host => host.namespace === object.namespace && host.provider === object.name).length, "host"),
      counted(object.machines, "machine")].filter(Boolean).join(", ")),
    cause(object));
}

function controlPlane(object) {
  return h("article", { class: "card", id: idOf("controlplane", object) },
    h("div", { class: "top" }, h("h3", { class: "name" }, nameOf(object)), readiness(object)),
    h("p", { class: "small soft" }, `Control plane in mode ${object.mode}: ${modeMeaning[object.mode] || "unknown to this version"}`),
    h("p", { class: "small soft" }, `${counted(object.pools, "pool")}, ${number(object.readyNodes)} of ${counted(object.nodes, "node")} ready`),
    cause(object));
}

const modeMeaning = {
  Active: "creates and removes machines", Observe: "only says what it would do", Paused: "creates and removes nothing" };

const phaseLook = { Ready: "good", Failed: "bad", Draining: "warn", Terminating: "warn" };
// Claims are named after their pool and a few letters, which are enough on their host.
const shortName = (name, share) => share < 25 ? name.slice(name.lastIndexOf("-") + 1) : name;
const segmentLook = phase => phase === "Ready" ? "" : phase === "Draining" || phase === "Terminating" ? "leaving" : "launching";

// Draws the machines of claims one by one, then the rest of what is committed. The remainder is free.
function box(machines, capacity, free, amount, unit, words, thin) {
  const ours = machines.reduce((sum, machine) => sum + machine[amount], 0);
  const whole = Math.max(capacity, ours + free, 1);
  const committed = Math.max(ours, whole - free);
  const share = part => 100 * part / whole;
  const segments = machines.map(machine => h("span", {
    class: `part-of ${segmentLook(machine.phase)} ${share(machine[amount]) < 12 ? "narrow" : ""}`,
    "width%": share(machine[amount]), title: `${machine.claim}: ${unit(machine[amount])}, ${machine.phase}` },
    !thin && share(machine[amount]) >= 12 && shortName(machine.claim, share(machine[amount]))));
  if (committed > ours) {
    segments.push(h("span", { class: "part-of other narrow", "width%": share(committed - ours),
      title: `Other guests and reserve: ${unit(committed - ours)}` }));
  }
  return h("div", { class: "meter" },
    h("div", { class: "words" }, h("span", {}, words),
      h("span", {}, h("strong", {}, unit(free)), " free, has ", unit(capacity))),
    h("div", { class: thin ? "box thin" : "box", role: "img",
      "aria-label": `${words}: ${unit(ours)} for ${counted(machines.length, "machine")}, ${unit(committed - ours)} for others, ${unit(free)} free` }, segments));
}

function virtualizationHost(host) {
  const owner = { namespace: host.namespace, name: host.provider };
  const state = !host.online ? chip("Offline", "bad") : host.evacuating ? chip("Evacuating", "warn")
    : host.message ? chip("No machine fits", "warn") : chip("Online", "good");
  return h("article", { class: "card", id: idOf("vmhost", { namespace: nameOf(owner), name: host.name }) },
    h("div", { class: "top" }, h("h3", { class: "name" }, host.name), h("span", { class: "small soft" }, linkTo("provider", owner, host.provider)), state),
    host.message && h("p", { class: "small message soft" }, host.message),
    h("div", { class: "meters" }, box(host.machines, host.memoryMiB, host.freeMemoryMiB, "memoryMiB", memory, "Memory"),
      box(host.machines, host.cpuCores, host.freeCPUCores, "cpuCores", cores => `${number(cores)} CPU`, "CPU", true)),
    host.machines.length > 0 && fold(`machines/${host.namespace}/${host.provider}/${host.name}`, counted(host.machines.length, "machine"),
      () => h("ul", { class: "items" }, host.machines.map(machine => h("li", {},
        linkTo("claim", { namespace: host.namespace, name: machine.claim }, machine.claim))))));
}

function bareMetalHost(host) {
  return h("article", { class: "card", id: idOf("host", host) },
    h("div", { class: "top" }, h("h3", { class: "name" }, nameOf(host)), host.ready === "True" ? chip(host.phase || "Ready", host.phase === "InUse" ? "good" : "") : readiness(host)),
    h("p", { class: "small soft" }, [host.model, host.cpuCores && `${number(host.cpuCores)} CPU`, host.memoryMiB && memory(host.memoryMiB),
      host.power && `power ${host.power.toLowerCase()}`].filter(Boolean).join(", ")),
    host.claim && h("p", { class: "small" }, linkTo("claim", { namespace: host.namespace, name: host.claim }, host.claim)),
    cause(host));
}

const kStages = [["Launch", "launch"], ["Register", "register"], ["Initialize", "initialize"], ["Serve", "in service"]];

function stages(claim, now) {
  const reached = claim.stages.length;
  const failed = claim.phase === "Failed";
  const leaving = claim.leavingSince && !failed;
  const words = claim.stages.map((stage, i) => `${kStages[i][1]} ${seconds(between(stage.begin, stage.end || now))}`);
  if (leaving) words.push(`leaving for ${seconds(between(claim.leavingSince, now))}`);
  return h("div", { class: "stages", role: "img", "aria-label": words.join(", ") || "not begun" }, kStages.map(([look, word], i) => {
    const stage = claim.stages[i];
    const current = i === reached - 1;
    const style = ["stage", look, stage && current && "current", stage && current && failed && "failed", leaving && "leaving"];
    return h("div", { class: style.filter(Boolean).join(" ") }, h("i", {}, stage && h("b", {})),
      stage ? `${word} ${seconds(between(stage.begin, stage.end || now))}` : word);
  }));
}

function claim(object, now) {
  const on = object.host && [" on ", linkTo("vmhost", { namespace: `${object.namespace}/${object.provider}`, name: object.host }, object.host)];
  return h("li", { class: "row", id: idOf("claim", object) },
    h("div", { class: "claim" },
      h("div", {}, h("div", { class: "top" }, h("h3", { class: "name" }, nameOf(object)), chip(object.phase, phaseLook[object.phase] || "busy")),
        h("p", { class: "small soft" }, object.size, object.size && " of ", linkTo("pool", { namespace: object.namespace, name: object.pool }, object.pool), on,
          object.node && object.node !== object.name && `, Node ${object.node}`)),
      stages(object, now)),
    object.waitsFor && h("p", { class: "small message soft" }, `${object.waitsFor.reason}: ${object.waitsFor.message}`));
}

function waiting(trouble, now) {
  return h("li", { class: "row" },
    h("div", { class: "top" }, h("h3", {}, counted(trouble.count, "pod"), trouble.count === 1 ? " waits" : " wait"),
      trouble.since && h("span", { class: "small soft" }, `for ${seconds(between(trouble.since, now))}`)),
    h("p", { class: "message" }, trouble.message || trouble.reason),
    fold(`pods/${trouble.reason}/${trouble.message}`, "Show pods", () => h("ul", { class: "items" }, trouble.objects.map(object => h("li", {}, nameOf(object))),
      trouble.count > trouble.objects.length && h("li", { class: "soft" }, `and ${number(trouble.count - trouble.objects.length)} more`))));
}

function keptNode(stay) {
  return h("li", { class: "row" }, h("div", { class: "top" }, h("h3", { class: "name" }, stay.node), chip(stay.kind, "")),
    h("p", { class: "small message soft" }, `Kept: ${stay.reason}: ${stay.message}`, stay.until && `, until ${new Date(stay.until).toLocaleString()}`));
}

function decision(object, now) {
  return h("li", { class: "row decision" }, h("span", { class: "soft" }, `${seconds(between(object.time, now))} ago`),
    h("div", {}, h("p", {}, chip(object.reason, object.warning ? "warn" : ""), " ", h("span", { class: "name" }, object.about),
      object.count > 1 && h("span", { class: "soft" }, `, ${number(object.count)} times`)),
    h("p", { class: "small message soft" }, object.message)));
}
