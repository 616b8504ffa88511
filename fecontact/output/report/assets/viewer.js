// The deformed body with a field: canvas, controls, colour bar and probe.

const EDGES_SHOWN = 8000; // elements up to which mesh lines are drawn at first
const UNIFORM = 1e-8; // spread of a field, relative to the largest of its kind, that is rounding

// all edges once (pairs of nodes), and those of one element only
function meshEdges(mesh) {
  const { triangles, quads, count } = mesh;
  const keys = new Float64Array(triangles.length + quads.length);
  let k = 0;
  const add = (a, b) => { keys[k++] = a < b ? a * count + b : b * count + a; };
  for (let i = 0; i < triangles.length; i += 3)
    for (let j = 0; j < 3; j++) add(triangles[i + j], triangles[i + ((j + 1) % 3)]);
  for (let i = 0; i < quads.length; i += 4)
    for (let j = 0; j < 4; j++) add(quads[i + j], quads[i + ((j + 1) % 4)]);
  keys.sort();
  const all = [], boundary = [];
  for (let i = 0; i < keys.length;) {
    let next = i + 1;
    while (next < keys.length && keys[next] === keys[i]) next++;
    const a = Math.floor(keys[i] / count), b = keys[i] - a * count;
    all.push(a, b);
    if (next === i + 1) boundary.push(a, b);
    i = next;
  }
  return { all: Uint32Array.from(all), boundary: Uint32Array.from(boundary), loops: loopsOf(boundary) };
}

// edges one after another, so that dashes run along the lines
function loopsOf(pairs) {
  const ends = new Map();
  const leave = (node, edge) => {
    if (!ends.has(node)) ends.set(node, []);
    ends.get(node).push(edge);
  };
  for (let i = 0; i < pairs.length; i += 2) {
    leave(pairs[i], i);
    leave(pairs[i + 1], i);
  }
  const used = new Set();
  const loops = [];
  for (let start = 0; start < pairs.length; start += 2) {
    if (used.has(start)) continue;
    const loop = [pairs[start]];
    for (let edge = start; edge !== undefined;) {
      used.add(edge);
      const here = loop.at(-1);
      const next = pairs[edge] === here ? pairs[edge + 1] : pairs[edge];
      loop.push(next);
      edge = ends.get(next).find((e) => !used.has(e));
    }
    loops.push(loop);
  }
  return loops;
}

// connected parts with more than one node
function bodies(count, pairs) {
  const parent = Int32Array.from({ length: count }, (_, i) => i);
  const root = (i) => {
    while (parent[i] !== i) i = parent[i] = parent[parent[i]];
    return i;
  };
  let joined = 0;
  const used = new Uint8Array(count);
  for (let i = 0; i < pairs.length; i += 2) {
    used[pairs[i]] = used[pairs[i + 1]] = 1;
    const a = root(pairs[i]), b = root(pairs[i + 1]);
    if (a !== b) {
      parent[a] = b;
      joined++;
    }
  }
  return used.reduce((sum, u) => sum + u, 0) - joined;
}

function paintedTriangles({ triangles, quads }) {
  const found = new Uint32Array(triangles.length + 1.5 * quads.length);
  found.set(triangles);
  let k = triangles.length;
  for (let i = 0; i < quads.length; i += 4) {
    const [a, b, c, d] = quads.subarray(i, i + 4);
    found.set([a, b, c, a, c, d], k);
    k += 6;
  }
  return found;
}

// a third of the triangles around each node
function nodeAreas(nodes, triangles) {
  const areas = new Float64Array(nodes.length / 2);
  for (let i = 0; i < triangles.length; i += 3) {
    const [a, b, c] = triangles.subarray(i, i + 3);
    const ux = nodes[2 * b] - nodes[2 * a], uy = nodes[2 * b + 1] - nodes[2 * a + 1];
    const vx = nodes[2 * c] - nodes[2 * a], vy = nodes[2 * c + 1] - nodes[2 * a + 1];
    for (const n of [a, b, c]) areas[n] += Math.abs(ux * vy - uy * vx) / 6;
  }
  return areas;
}

// values below which given parts of the weight lie, from a histogram
function quantiles(values, weights, [low, high], ...parts) {
  const bins = new Float64Array(4096);
  const scale = high > low ? 4095 / (high - low) : 0;
  let total = 0;
  for (let i = 0; i < values.length; i++) {
    bins[Math.min(4095, Math.max(0, Math.floor((values[i] - low) * scale)))] += weights[i];
    total += weights[i];
  }
  return parts.map((part) => {
    let sum = 0, k = 0;
    while (k < 4095 && sum + bins[k] < part * total) sum += bins[k++];
    return low + (part > 0.5 ? k + 1 : k) * (high - low) / 4096;
  });
}

function niceFactor(wanted) {
  if (!(wanted > 1) || !isFinite(wanted)) return 1;
  const power = 10 ** Math.floor(Math.log10(wanted));
  return power * Math.max(...[1, 2, 5].filter((m) => m * power <= wanted * (1 + 1e-9)));
}

class Viewer {
  constructor(host, app) {
    this.host = host;
    this.app = app;
    this.prefs = { field: "", range: "all", map: "viridis", bands: false, edges: null, marks: true };
    this.zoom = { factor: 1, x: 0, y: 0 };
    this.token = 0;
    this.build();
  }

  build() {
    this.paint = make("canvas", { class: "paint" });
    this.over = make("canvas", { class: "over" });
    this.tip = make("output", { class: "tip", hidden: true });
    const button = (text, title, act) =>
      make("button", { type: "button", title, "aria-label": title, onclick: act }, text);
    this.stage = make("div", { class: "stage", role: "img", "aria-label": "deformed body" },
      this.paint, this.over, this.tip,
      make("div", { class: "zoom" },
        button("+", "zoom in", () => this.zoomBy(1.6)),
        button("−", "zoom out", () => this.zoomBy(1 / 1.6)),
        button("⤢", "whole body", () => this.resetZoom())));
    this.controls = make("div", { class: "controls" });
    this.bar = make("div", { class: "colourbar" });
    this.caption = make("p", { class: "caption" });
    this.painter = location.hash !== "#raster"
      && GlPainter.make(this.paint, location.hash === "#webgl");
    if (!this.painter) {
      if (location.hash !== "#raster") this.paint.replaceWith((this.paint = make("canvas", { class: "paint" })));
      this.painter = new RasterPainter(this.paint);
    }
    this.stage.dataset.painter = this.painter.kind;
    this.host.replaceChildren(make("h2", {}, "Deformed body"), this.controls, this.stage, this.bar,
      this.caption);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.stage);
  }

  async load() {
    const { report } = this.app;
    this.mesh = await loadMesh(report.mesh);
    this.edges = meshEdges(this.mesh);
    this.elements = report.mesh.triangles + report.mesh.quads;
    this.painter.mesh(this.mesh.nodes, paintedTriangles(this.mesh));
    this.painter.edges(this.edges.all);
    this.prefs.edges ??= this.elements <= EDGES_SHOWN;
    this.update();
  }

  // after the report has changed: fields, ranges and the automatic amplification
  update() {
    const { report } = this.app;
    const steps = report.steps.filter((s) => s.fields);
    this.fields = steps.length ? Object.keys(steps.at(-1).ranges) : [];
    if (!this.fields.includes(this.prefs.field)) this.prefs.field = this.fields[0] || "";
    this.overall = {};
    for (const name of this.fields) {
      const found = steps.map((s) => s.ranges[name]).filter((r) => r && r[0] != null);
      this.overall[name] = [Math.min(...found.map((r) => r[0])), Math.max(...found.map((r) => r[1]))];
    }
    this.kinds = {};
    for (const name of this.fields) {
      const { kind } = fieldOf(name);
      this.kinds[kind] = Math.max(this.kinds[kind] || 0, largest(this.overall[name]));
    }
    const { low, high } = report.mesh;
    this.size = Math.max(high[0] - low[0], high[1] - low[1]);
    const furthest = this.overall.u ? this.overall.u[1] : 0;
    // amplified motions of several bodies would show them overlapping or apart where they touch
    const alone = bodies(this.mesh.count, this.edges.all) === 1;
    this.automatic = furthest > 0 && alone ? niceFactor(0.1 * this.size / furthest) : 1;
    this.largest = furthest > 0 ? niceFactor(0.1 * this.size / furthest) : 1;
    if (!this.prefs.chosen) this.prefs.amplification = this.automatic;
    if (report.steps.length < 2 && this.prefs.range === "all") this.prefs.range = "step";
    this.buildControls();
    this.resize();
  }

  buildControls() {
    const { prefs } = this;
    const change = (name, value) => { prefs[name] = value; this.show(); };
    const choice = (text, name, entries) => {
      const select = make("select", { name, onchange: () => change(name, select.value) },
        ...entries.map(([value, label]) =>
          make("option", { value, selected: value === String(prefs[name]) }, label)));
      return make("label", {}, text, select);
    };
    const tick = (text, name) => {
      const box = make("input", { type: "checkbox", name, checked: prefs[name],
        onchange: () => change(name, box.checked) });
      return make("label", { class: "tick" }, box, text);
    };
    const factors = new Set([0, 1, prefs.amplification]);
    for (const m of [0.1, 0.2, 0.5, 1, 2, 5])
      if (this.largest * m > 1) factors.add(Number((this.largest * m).toPrecision(3)));
    const named = (f) => f === 0 ? "none" : f === 1 ? "× 1 (true)"
      : `× ${f}` + (f === this.automatic ? " (automatic)" : "");
    const amplify = choice("Deformation", "amplification",
      [...factors].sort((a, b) => a - b).map((f) => [String(f), named(f)]));
    amplify.querySelector("select").onchange = (event) => {
      prefs.chosen = true;
      prefs.amplification = Number(event.target.value);
      this.show();
    };
    const marks = this.app.report.steps.some((s) => s.contacts);
    const items = this.fields.length === 0 ? [] : [
      choice("Field", "field", this.fields.map((name) => [name, fieldOf(name).label])),
      amplify,
      choice("Colour range", "range", [["all", "all steps"], ["step", "this step"],
        ["most", "96 % of the area"]].slice(this.app.report.steps.length > 1 ? 0 : 1)),
      choice("Colours", "map", Object.keys(MAPS).map((name) => [name, name])),
      tick("bands", "bands"), tick("mesh lines", "edges"), marks && tick("contact status", "marks"),
    ];
    this.controls.replaceChildren(...items.filter(Boolean));
  }

  async show() {
    const { report } = this.app;
    const token = ++this.token;
    const step = report.steps[this.app.index];
    const started = performance.now();
    if (step && step.fields) {
      const parts = await loadFields(step, this.mesh.count);
      const contacts = step.contacts ? await this.app.contactTables(step) : {};
      if (token !== this.token) return;
      const none = () => new Float32Array(this.mesh.count);
      this.shown = { step, parts, contacts, ux: parts.ux || none(), uy: parts.uy || none(),
        values: fieldValues(this.prefs.field, parts, this.mesh.count) };
      this.painter.step(this.shown.ux, this.shown.uy, this.shown.values);
    }
    this.draw();
    this.stage.dataset.step = step ? step.number : "";
    this.stage.dataset.milliseconds = (performance.now() - started).toFixed(1);
  }

  resize() {
    if (!this.mesh) return;
    const width = this.stage.clientWidth;
    const { low, high } = this.box();
    const aspect = (high[1] - low[1]) / Math.max(high[0] - low[0], 1e-300);
    const limit = Math.max(240, 0.68 * window.innerHeight);
    const height = Math.round(Math.min(limit, Math.max(180, width * aspect)));
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    this.stage.style.height = height + "px";
    for (const canvas of [this.paint, this.over]) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(this.stage.clientHeight * ratio);
    }
    this.ratio = ratio;
    if (this.shown) this.draw();
  }

  // what must fit: the body as it was and as it moves, about the centre of the mesh
  box() {
    const { low, high, centre } = this.app.report.mesh;
    const f = this.prefs.amplification || 0;
    const [x, y] = ["ux", "uy"].map((name) => this.overall[name] || [0, 0]);
    const margin = 0.06 * this.size;
    return {
      low: [low[0] - centre[0] + Math.min(0, f * x[0]) - margin,
        low[1] - centre[1] + Math.min(0, f * y[0]) - margin],
      high: [high[0] - centre[0] + Math.max(0, f * x[1]) + margin,
        high[1] - centre[1] + Math.max(0, f * y[1]) + margin],
    };
  }

  view() {
    const { low, high } = this.box();
    const { width, height } = this.over;
    const { factor, x, y } = this.zoom;
    const fit = Math.min(width / (high[0] - low[0]), height / (high[1] - low[1]));
    const scale = fit * factor;
    return { scale, x: width / 2 - scale * (low[0] + high[0]) / 2 + x * this.ratio,
      y: height / 2 + scale * (low[1] + high[1]) / 2 + y * this.ratio };
  }

  draw() {
    if (!this.shown || !this.over.width) return;
    const { prefs, shown } = this;
    let range = prefs.range === "all" ? this.overall[prefs.field] : shown.step.ranges[prefs.field];
    if (prefs.range === "most") {
      // a stress concentration would leave the rest in one colour
      this.areas ||= nodeAreas(this.mesh.nodes, paintedTriangles(this.mesh));
      range = quantiles(shown.values, this.areas, range, 0.02, 0.98);
    }
    if (!range || range[0] == null) range = [0, 0];
    // rounding is no field: what varies less than that among its kind gets one colour
    const size = this.kinds[fieldOf(prefs.field).kind], middle = (range[0] + range[1]) / 2;
    const uniform = range[1] - range[0] <= UNIFORM * size;
    if (uniform) range = [middle, middle];
    const table = colourTable(prefs.map, prefs.bands ? 10 : 0);
    const view = this.view();
    const painted = uniform ? [middle - (size || 1), middle + (size || 1)] : range;
    this.painter.draw(view, prefs.amplification, painted, table, prefs.edges);
    this.drawOver(view);
    this.drawBar(range, table);
  }

  place(view, node, f) {
    const { nodes } = this.mesh;
    return [view.x + view.scale * (nodes[2 * node] + f * this.shown.ux[node]),
      view.y - view.scale * (nodes[2 * node + 1] + f * this.shown.uy[node])];
  }

  drawOver(view) {
    const context = this.over.getContext("2d");
    const { ratio, shown, prefs } = this;
    const f = prefs.amplification;
    context.clearRect(0, 0, this.over.width, this.over.height);
    const outline = (amplification) => {
      context.beginPath();
      for (const loop of this.edges.loops) {
        context.moveTo(...this.place(view, loop[0], amplification));
        for (const node of loop) context.lineTo(...this.place(view, node, amplification));
      }
      context.stroke();
    };
    context.lineWidth = 1.2 * ratio;
    context.strokeStyle = "rgba(20, 20, 20, 0.85)";
    outline(f);
    if (f !== 0) {
      context.setLineDash([5 * ratio, 4 * ratio]);
      context.strokeStyle = "rgba(90, 90, 90, 0.8)";
      context.lineWidth = ratio;
      outline(0);
      context.setLineDash([]);
    }
    this.drawObstacles(context, view);
    if (prefs.marks) this.drawMarks(context, view, f);
    this.drawScale(context, view);
  }

  drawObstacles(context, view) {
    const { centre } = this.app.report.mesh;
    context.strokeStyle = "#000";
    context.lineWidth = 2.5 * this.ratio;
    for (const line of Object.values(this.shown.step.outlines || {})) {
      context.beginPath();
      for (const [x, y] of line)
        context.lineTo(view.x + view.scale * (x - centre[0]), view.y - view.scale * (y - centre[1]));
      context.stroke();
    }
  }

  drawMarks(context, view, f) {
    for (const table of Object.values(this.shown.contacts)) {
      const places = table.node.map((node) => this.place(view, node, f));
      const far = places.length > 1
        ? Math.hypot(places[1][0] - places[0][0], places[1][1] - places[0][1]) : 99;
      const r = Math.max(2, Math.min(4.5, 0.42 * far / this.ratio)) * this.ratio;
      context.lineWidth = Math.max(0.75, r / 5);
      table.status.forEach((status, i) => {
        const style = STATUS[this.app.report.statuses[status]];
        context.fillStyle = style.fill;
        context.strokeStyle = style.line;
        drawMark(context, style.shape, ...places[i], r);
      });
    }
  }

  drawScale(context, view) {
    const { ratio } = this;
    const wanted = 90 * ratio / view.scale;
    const power = 10 ** Math.floor(Math.log10(wanted));
    const length = power * Math.max(...[1, 2, 5].filter((m) => m * power <= wanted));
    const { factor, unit } = scaledUnit(length, this.app.report.units.length);
    const x = 12 * ratio, y = 26 * ratio;
    context.fillStyle = "rgba(255, 255, 255, 0.8)";
    context.fillRect(x - 5 * ratio, y - 20 * ratio, length * view.scale + 10 * ratio, 26 * ratio);
    context.strokeStyle = context.fillStyle = "#222";
    context.lineWidth = 2 * ratio;
    context.beginPath();
    context.moveTo(x, y);
    context.lineTo(x + length * view.scale, y);
    context.stroke();
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    context.fillText(`${nice(length * factor)} ${unit}`, x, y - 6 * ratio);
  }

  drawBar(range, table) {
    const { prefs, shown } = this;
    const field = fieldOf(prefs.field);
    const { factor, unit } = scaledUnit(largest(range), this.app.report.units[field.kind] || "");
    const canvas = make("canvas", { width: 256, height: 1 });
    const image = new ImageData(new Uint8ClampedArray(table), 256, 1);
    canvas.getContext("2d").putImageData(image, 0, 0);
    const flat = !(range[1] > range[0]);
    const size = largest(range);
    const clean = (v) => (Math.abs(v) < 1e-9 * size ? 0 : v);
    const ticks = (flat ? [0] : [0, 0.25, 0.5, 0.75, 1]).map((part) =>
      make("span", { style: `left:${flat ? 50 : 100 * part}%` },
        nice(factor * clean(range[0] + part * (range[1] - range[0])), 3)));
    const name = field.label + (unit ? ` (${unit})` : "");
    this.bar.replaceChildren(make("div", { class: "barname" }, name + (flat ? ", uniform" : "")), canvas,
      make("div", { class: "ticks" }, ...ticks));
    const deformed = prefs.amplification === 0 ? "drawn undeformed"
      : `displacements × ${prefs.amplification}, undeformed outline dashed`;
    const extremes = shown.step.ranges[prefs.field] || [0, 0];
    const least = extremes.map((v) => nice(factor * clean(v)));
    this.caption.textContent = `${field.label} at t = ${nice(shown.step.time, 6)} (step `
      + `${shown.step.number}): ${least[0]} to ${least[1]} ${unit}; ${deformed}.`;
    this.stage.setAttribute("aria-label", this.caption.textContent);
  }

  zoomBy(ratio, x = this.stage.clientWidth / 2, y = this.stage.clientHeight / 2) {
    const { zoom } = this;
    const factor = Math.min(200, Math.max(1, zoom.factor * ratio));
    const applied = factor / zoom.factor;
    const dx = x - this.stage.clientWidth / 2, dy = y - this.stage.clientHeight / 2;
    this.zoom = { factor, x: dx - applied * (dx - zoom.x), y: dy - applied * (dy - zoom.y) };
    if (factor === 1) this.zoom = { factor, x: 0, y: 0 };
    this.over.style.touchAction = factor > 1 ? "none" : "pan-y";
    this.draw();
  }

  resetZoom() {
    this.zoomBy(0);
  }

  listen() {
    const { over } = this;
    const fingers = new Map();
    over.style.touchAction = "pan-y";
    over.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault();
      this.zoomBy(Math.exp(-0.003 * event.deltaY), event.offsetX, event.offsetY);
    }, { passive: false });
    over.addEventListener("dblclick", (event) => this.zoomBy(2, event.offsetX, event.offsetY));
    over.addEventListener("pointerdown", (event) => {
      over.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, [event.offsetX, event.offsetY]);
    });
    for (const kind of ["pointerup", "pointercancel", "pointerleave"])
      over.addEventListener(kind, (event) => {
        fingers.delete(event.pointerId);
        if (kind === "pointerleave") this.tip.hidden = true;
      });
    over.addEventListener("pointermove", (event) => {
      const here = [event.offsetX, event.offsetY];
      const before = fingers.get(event.pointerId);
      if (before && fingers.size === 2) {
        const other = [...fingers].find(([id]) => id !== event.pointerId)[1];
        const apart = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]);
        this.zoomBy(apart(here) / Math.max(1, apart(before)), (here[0] + other[0]) / 2,
          (here[1] + other[1]) / 2);
      } else if (before && this.zoom.factor > 1) {
        this.zoom.x += here[0] - before[0];
        this.zoom.y += here[1] - before[1];
        this.draw();
      } else this.probe(...here);
      if (before) fingers.set(event.pointerId, here);
    });
  }

  // the node nearest to the pointer, and what it has
  probe(x, y) {
    if (!this.shown) return;
    const { nodes, count, centre } = this.mesh;
    const { ux, uy, values } = this.shown;
    const view = this.view(), f = this.prefs.amplification;
    const px = (x * this.ratio - view.x) / view.scale, py = (view.y - y * this.ratio) / view.scale;
    // as far as an element is large, or a finger wide
    const reach = Math.max(24 * this.ratio / view.scale, this.size / Math.sqrt(this.elements));
    let best = -1, least = reach * reach;
    for (let i = 0; i < count; i++) {
      const dx = nodes[2 * i] + f * ux[i] - px, dy = nodes[2 * i + 1] + f * uy[i] - py;
      const d = dx * dx + dy * dy;
      if (d < least) { least = d; best = i; }
    }
    this.tip.hidden = best < 0;
    if (best < 0) return;
    const { units } = this.app.report;
    const field = fieldOf(this.prefs.field);
    const value = scaledUnit(Math.abs(values[best]), units[field.kind] || "");
    const where = scaledUnit(this.size, units.length);
    const coordinates = [0, 1].map((k) =>
      nice(where.factor * (nodes[2 * best + k] + centre[k])));
    this.tip.textContent = `${nice(value.factor * values[best])} ${value.unit}\n`
      + `node ${best} at (${coordinates.join(", ")}) ${where.unit}`;
    this.tip.style.left = Math.min(x + 14, this.stage.clientWidth - 150) + "px";
    this.tip.style.top = Math.max(4, y - 46) + "px";
  }
}
