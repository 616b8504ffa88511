// What was run: the mesh with its groups, materials, conditions, laws; wall time; how to repeat it.

class MeshPicture {
  constructor(app, mesh, edges, groups) {
    Object.assign(this, { app, mesh, edges, groups });
    this.canvas = make("canvas", { class: "meshpicture", role: "img" });
    const lines = groups.filter((g) => g.kind !== "elements");
    this.on = new Set(lines.length <= 12 ? lines : lines.filter((g) => g.kind === "edges").slice(0, 8));
    const chips = groups.map((group) => {
      const box = make("input", { type: "checkbox", checked: this.on.has(group), onchange: () => {
        if (box.checked) this.on.add(group); else this.on.delete(group);
        this.draw();
      } });
      return make("label", { class: "tick" }, box, make("b", {}, group.name),
        ` ${group.count} ${group.count === 1 ? group.kind.slice(0, -1) : group.kind}`);
    });
    this.canvas.setAttribute("aria-label", "mesh with the groups "
      + groups.map((g) => g.name).join(", "));
    this.element = make("figure", { class: "meshbox" }, this.canvas,
      make("figcaption", { class: "chips" }, ...chips));
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  draw() {
    const width = this.canvas.clientWidth;
    if (!width) return;
    const { low, high, centre } = this.app.report.mesh;
    const ratio = Math.min(2, devicePixelRatio || 1);
    const size = [high[0] - low[0], high[1] - low[1]];
    const pad = 56;
    const height = Math.min(440, Math.max(120, (width - 2 * pad) * size[1] / size[0] + 2 * pad));
    this.canvas.style.height = height + "px";
    Object.assign(this.canvas, { width: width * ratio, height: height * ratio });
    const scale = ratio * Math.min((width - 2 * pad) / size[0], (height - 2 * pad) / size[1]);
    const context = this.canvas.getContext("2d");
    const { nodes } = this.mesh;
    const middle = [(low[0] + high[0]) / 2 - centre[0], (low[1] + high[1]) / 2 - centre[1]];
    const at = (n) => [this.canvas.width / 2 + scale * (nodes[2 * n] - middle[0]),
      this.canvas.height / 2 - scale * (nodes[2 * n + 1] - middle[1])];
    const draw = (pairs, colour, wide, dash = []) => {
      context.strokeStyle = colour;
      context.lineWidth = wide * ratio;
      context.setLineDash(dash.map((d) => d * ratio));
      context.beginPath();
      // one after another where they are dashed, so that the dashes run along the line
      for (const line of dash.length ? loopsOf(pairs) : []) {
        context.moveTo(...at(line[0]));
        for (const node of line) context.lineTo(...at(node));
      }
      for (let i = 0; i < (dash.length ? 0 : pairs.length); i += 2) {
        context.moveTo(...at(pairs[i]));
        context.lineTo(...at(pairs[i + 1]));
      }
      context.stroke();
      context.setLineDash([]);
    };
    if (this.edges.all.length < 120000) draw(this.edges.all, "#c9c9c9", 0.6);
    draw(this.edges.boundary, "#888", 1);
    const taken = [];
    [...this.on].forEach((group) => {
      const k = this.groups.indexOf(group);
      const colour = LINES[k % LINES.length];
      if (group.kind === "nodes") {
        const r = (group.numbers.length > 200 ? 1.5 : 4.5) * ratio;
        context.fillStyle = colour;
        context.strokeStyle = "#fff";
        context.lineWidth = ratio;
        for (const n of group.numbers) drawMark(context, "circle", ...at(n), r);
      } else draw(group.numbers, colour, group.kind === "edges" ? 4 : 2, DASHES[k % DASHES.length]);
      this.label(context, group, at, colour, ratio, taken);
    });
  }

  // the name beside the middle of the group, outside of the body where there is room
  label(context, group, at, colour, ratio, taken) {
    const { numbers } = group;
    if (!numbers.length) return;
    let x = 0, y = 0, total = 0;
    // by length of edges, or by nodes
    for (let i = 0; i < numbers.length; i += group.kind === "nodes" ? 1 : 2) {
      const [ax, ay] = at(numbers[i]), [bx, by] = at(numbers[group.kind === "nodes" ? i : i + 1]);
      const weight = Math.hypot(bx - ax, by - ay) + 1e-9;
      x += weight * (ax + bx) / 2;
      y += weight * (ay + by) / 2;
      total += weight;
    }
    x /= total;
    y /= total;
    context.font = `600 ${12.5 * ratio}px system-ui, sans-serif`;
    const wide = context.measureText(group.name).width, tall = 16 * ratio;
    const out = [x - this.canvas.width / 2, y - this.canvas.height / 2];
    const far = Math.hypot(...out) || 1;
    const inside = group.kind === "elements";
    // away from the middle, else above or below, as on a slender body
    const ways = inside ? [[0, 1]] : [[out[0] / far, out[1] / far], [0, -1], [0, 1]];
    const free = ([px, py]) => !taken.some(([tx, ty, tw]) =>
      Math.abs(tx - px) < (tw + wide) / 2 + 4 && Math.abs(ty - py) < tall);
    let place;
    for (let push = 0; push < 8 && !(place && free(place)); push++)
      for (const [wx, wy] of ways) {
        const d = inside ? push * tall : (18 + 12 * push) * ratio;
        const cx = x + wx * (d + Math.abs(wx) * wide / 2), cy = y + wy * d;
        place = [Math.min(this.canvas.width - wide / 2 - 4, Math.max(wide / 2 + 4, cx)),
          Math.min(this.canvas.height - tall / 2, Math.max(tall / 2, cy))];
        if (free(place)) break;
      }
    taken.push([...place, wide]);
    context.fillStyle = "rgba(255, 255, 255, 0.85)";
    context.fillRect(place[0] - wide / 2 - 3, place[1] - tall / 2, wide + 6, tall);
    context.fillStyle = colour;
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText(group.name, ...place);
  }
}

function shortText(value) {
  if (value == null) return "–";
  if (Array.isArray(value)) return `[${value.map(shortText).join(", ")}]`;
  if (typeof value === "object")
    return Object.entries(value).map(([k, v]) => `${k} ${shortText(v)}`).join(", ");
  return typeof value === "number" ? nice(value, 6) : String(value);
}

function namedTable(entries) {
  const columns = [...new Set(Object.values(entries).flatMap((e) => Object.keys(e)))];
  return make("div", { class: "scroll" }, make("table", {},
    make("thead", {}, make("tr", {}, make("th", {}, "name"),
      ...columns.map((c) => make("th", {}, c.replaceAll("_", " "))))),
    make("tbody", {}, ...Object.entries(entries).map(([name, entry]) => make("tr", {},
      make("th", { scope: "row" }, name),
      ...columns.map((c) => make("td", {}, c in entry ? shortText(entry[c]) : "–")))))));
}

function pairsList(pairs) {
  return make("dl", {}, ...pairs.filter(([, v]) => v != null && v !== "").flatMap(([k, v]) =>
    [make("dt", {}, k), make("dd", {}, String(v))]));
}

const SECTIONS = { materials: "Materials", prescribed: "Prescribed motion", loads: "Loads",
  springs: "Springs", contact: "Contacts and their laws", groups: "Groups made by expressions" };

function renderSetup(app) {
  const { summary, case: given, mesh } = app.report;
  const parts = [make("h2", {}, "What was run")];
  if (given && given.description)
    parts.push(make("pre", { class: "sketch" }, given.description.replace(/\s+$/, "")));
  if (given && given.reference) parts.push(make("p", { class: "caption" }, given.reference));
  const size = summary.mesh || {};
  const counts = ["triangle", "quad"].filter((k) => size[k]).map((k) => `${size[k]} ${k}s`);
  const times = summary.times || {};
  const solver = summary.solver || {};
  parts.push(pairsList([
    ["Mesh", mesh && `${mesh.nodes} nodes, ${counts.join(", ") || mesh.triangles + mesh.quads + " elements"}`],
    ["Degrees of freedom", size.dofs != null ? `${size.dofs}, of which ${size.free_dofs} free` : null],
    ["Hypothesis", summary.hypothesis && summary.hypothesis.replace("_", " ")
      + (summary.hypothesis === "axisymmetric" ? "" : `, thickness ${nice(summary.thickness)}`)],
    ["Scheme", summary.scheme && summary.scheme.replaceAll("_", " ")],
    ["Time", times.steps && `${times.steps} step${times.steps > 1 ? "s" : ""} of ${nice(times.step)} to t = ${nice(times.end)}`],
    ["Friction solver", solver.solver && `${solver.solver}, to ${nice(solver.tolerance)}`],
    ["Forces in tables", summary.forces],
  ]));
  app.picture = app.mesh && new MeshPicture(app, app.mesh, app.edges, app.groups);
  if (app.picture) parts.push(make("h3", {}, "Mesh and its groups"), app.picture.element);
  for (const [key, title] of Object.entries(SECTIONS)) {
    const table = given && given[key];
    if (table && Object.keys(table).length) parts.push(make("h3", {}, title), namedTable(table));
    else if (!table && summary[key] && Object.keys(summary[key]).length)
      parts.push(make("h3", {}, title), make("ul", {}, ...Object.entries(summary[key]).map(([k, v]) =>
        make("li", {}, Array.isArray(summary[key]) ? v : `${k}: ${v}`))));
  }
  refill("setup", ...parts);
}

function renderPhases(app) {
  const wall = app.report.summary.wall_time;
  if (!wall || !wall.phases) return refill("phases");
  const phases = Object.entries(wall.phases);
  const total = wall.total || wall.computation || 1;
  if (wall.total > wall.computation) phases.push(["output and the rest", wall.total - wall.computation]);
  const most = Math.max(...phases.map(([, s]) => s));
  const rows = phases.sort((a, b) => b[1] - a[1]).map(([name, s]) => make("tr", {},
    make("th", { scope: "row" }, name), make("td", { class: "number" }, seconds(s)),
    make("td", { class: "number" }, (100 * s / total).toFixed(s / total < 0.1 ? 1 : 0) + " %"),
    make("td", { class: "bar" }, make("div", { style: `width:${100 * s / most}%` }))));
  return refill("phases", make("h2", {}, "Wall time"),
    make("p", { class: "caption" }, `${seconds(total)} in all.`),
    make("table", { class: "phases" }, make("tbody", {}, ...rows)));
}

function renderRepeat(app) {
  const { summary, toml, folder } = app.report;
  const parts = [make("h2", {}, "How to repeat this run")];
  const file = summary.case_file;
  const name = file ? file.split(/[\\/]/).pop() : `${folder}.toml`;
  if (file) parts.push(make("p", {}, "It was made from ", make("code", {}, file), "."));
  if (toml) {
    parts.push(make("p", {}, "Save the case below as ", make("code", {}, name), " and run it"
      + (/^\s*(file|geometry) = /m.test(toml) ? ", beside the mesh files that it names:" : ":")),
    make("pre", {}, `fecontact run ${name} --out ${folder}`),
    make("p", { class: "links" }, make("button", { type: "button", class: "link",
      onclick: () => download(name, toml) }, `save ${name}`)),
    make("details", {}, make("summary", {}, "The case"), make("pre", { class: "case" }, toml)));
  } else parts.push(make("p", {}, "It was started from Python, without a case file."));
  const versions = Object.entries(summary.versions || {}).map(([k, v]) => `${k} ${v}`);
  if (versions.length) parts.push(make("p", { class: "caption" },
    `With ${versions.join(", ")} on ${summary.platform}.`));
  refill("repeat", ...parts);
}
