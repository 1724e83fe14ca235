"use strict";
// Helpers to make elements. Text becomes text nodes only, so nothing of a cluster becomes markup.

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "width%") element.style.width = `${value}%`;
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false && child !== ""));
  return element;
}

function h(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

const byId = id => document.getElementById(id);
const nameOf = object => object.namespace ? `${object.namespace}/${object.name}` : object.name;
const idOf = (kind, object) => `${kind}/${nameOf(object)}`;
const counted = (count, noun, nouns = `${noun}s`) => `${number(count)} ${count === 1 ? noun : nouns}`;
const number = value => Number(value).toLocaleString("en", { maximumFractionDigits: 1 });

function linkTo(kind, object, text) {
  return h("a", { href: `#${encodeURI(idOf(kind, object))}` }, text || nameOf(object));
}

function memory(mib) {
  return mib >= 1024 ? `${number(mib / 1024)} GiB` : `${number(mib)} MiB`;
}

function seconds(value) {
  const s = Math.max(0, Math.round(value));
  if (s < 120) return `${s} s`;
  if (s < 7200) return `${Math.floor(s / 60)} min`;
  if (s < 172800) return `${Math.floor(s / 3600)} h`;
  return `${Math.floor(s / 86400)} d`;
}

const between = (begin, end) => (Date.parse(end) - Date.parse(begin)) / 1000;

// Keeps `details` open or closed across redraws, by its key.
const opened = new Set();
function fold(key, summary, make) {
  const body = h("div", {});
  const details = h("details", { open: opened.has(key), "data-key": key }, h("summary", {}, summary), body);
  const show = () => { if (details.open && !body.firstChild) body.append(...[make()].flat()); };
  details.addEventListener("toggle", () => { details.open ? opened.add(key) : opened.delete(key); show(); });
  show();
  return details;
}

const chip = (text, look) => h("span", { class: `chip ${look || ""}` }, text);

// A person turned the object off: it is Ready, and nothing is created or removed.
const isTurnedOff = object => ["Paused", "Observe", "NotSelected"].includes(object.reason);

// Returns the state of the condition Ready as a chip, and its cause as a line if there is one.
function readiness(object) {
  if (isTurnedOff(object)) return [chip(object.reason, "warn")];
  if (object.ready === "True") return [chip("Ready", "good")];
  return [chip(object.reason || (object.ready === "False" ? "Not ready" : "Unknown"),
    object.ready === "False" && !object.reconciling ? "bad" : "busy")];
}
const cause = object => (object.ready !== "True" || isTurnedOff(object)) && object.message ? h("p", { class: "small message soft" }, object.message) : null;

function meter(words, used, limit, unit) {
  const percent = limit > 0 ? Math.min(100, 100 * used / limit) : 0;
  return h("div", { class: "meter" },
    h("div", { class: "words" }, h("span", {}, words),
      h("span", {}, h("strong", {}, unit(used)), limit > 0 ? ` of ${unit(limit)}` : ", no limit")),
    limit > 0 && h("div", { class: "track" }, h("div", { class: used >= limit ? "fill full" : "fill", "width%": percent })));
}
