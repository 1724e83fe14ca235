// The charts of the last day, drawn from one sample a minute.

const kDay = 86400;
const kPlotWidth = 600;
const kPlotHeight = 90;

const clockTime = time => new Date(time * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

// Splits the samples where some are missing, and thins them to what a screen can show.
function pieces(times, values, interval) {
  const all = [];
  const step = Math.max(1, Math.ceil(times.length / kPlotWidth));
  for (let i = 0; i < times.length; i += step) {
    const end = Math.min(times.length, i + step);
    const point = { time: times[end - 1], value: Math.max(...values.slice(i, end)) };
    const last = all.at(-1)?.at(-1);
    if (!last || point.time - last.time > (step + 3) * interval) all.push([point]);
    else all.at(-1).push(point);
  }
  return all;
}

function path(piece, place) {
  let text = "";
  piece.forEach((point, i) => {
    const [x, y] = place(point);
    text += i === 0 ? `M${x} ${y}` : `H${x}V${y}`;
  });
  return text;
}

function chart(title, look, values, history, shown) {
  const { times, intervalSeconds } = history;
  const end = times.at(-1);
  const begin = Math.min(times[0], end - 600);
  const most = Math.max(...values, 1);
  const place = point => [
    (kPlotWidth * (point.time - begin) / (end - begin)).toFixed(1),
    (kPlotHeight - (kPlotHeight - 4) * point.value / most).toFixed(1)];
  const drawing = svg("svg", { viewBox: `0 0 ${kPlotWidth} ${kPlotHeight}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `${title}: now ${shown(values.at(-1))}, at least ${shown(Math.min(...values))} and at most ${shown(Math.max(...values))} since ${clockTime(times[0])}` },
    svg("line", { class: "base", x1: 0, x2: kPlotWidth, y1: kPlotHeight, y2: kPlotHeight }));
  for (const piece of pieces(times, values, intervalSeconds)) {
    const line = path(piece, place);
    const [from] = place(piece[0]);
    drawing.append(svg("path", { class: "area", d: `${line}V${kPlotHeight}H${from}Z` }), svg("path", { class: "line", d: line }));
  }
  const value = h("strong", {}, shown(values.at(-1)));
  const label = h("span", {}, "now");
  const cursor = svg("line", { class: "cursor", y1: 0, y2: kPlotHeight });
  const point = event => {
    const bounds = drawing.getBoundingClientRect();
    const time = begin + (end - begin) * Math.min(1, Math.max(0, (event.clientX - bounds.left) / bounds.width));
    let at = times.findIndex(each => each >= time);
    if (at < 0) at = times.length - 1;
    const [x] = place({ time: times[at], value: 0 });
    cursor.setAttribute("x1", x);
    cursor.setAttribute("x2", x);
    drawing.append(cursor);
    value.textContent = shown(values[at]);
    label.textContent = clockTime(times[at]);
  };
  const leave = () => {
    cursor.remove();
    value.textContent = shown(values.at(-1));
    label.textContent = "now";
  };
  drawing.addEventListener("pointermove", point);
  drawing.addEventListener("pointerleave", leave);
  return h("div", { class: `card chart ${look}` }, h("div", { class: "top" }, h("h3", {}, title), value),
    h("div", { class: "plot" }, drawing),
    h("div", { class: "axis" }, h("span", {}, clockTime(begin)), h("span", {}, `at most ${shown(Math.max(...values))}`), label));
}

function charts(history) {
  if (!history.times.length) return [h("p", { class: "empty" }, "There is no sample yet.")];
  return [h("div", { class: "grid three" },
    chart("Nodes", "nodes", history.nodes, history, number),
    chart("Waiting pods", "pods", history.waitingPods, history, number),
    chart("Price", "price", history.price, history, number))];
}

function sinceWhen(history, now) {
  if (!history.times.length) return "";
  const since = `One sample a minute since ${clockTime(history.times[0])}`;
  const isWhole = Date.parse(now) / 1000 - history.times[0] > kDay - 3600;
  const keeper = history.keptBy === "command" ? "this command was started" : "this process was started";
  return isWhole ? "The last day" : `${since}, when ${keeper}`;
}
