// Along each contact: pressure, friction and its bound, gap, status, and the status over time.

const AXIS = 70; // pixels left of all curves of a contact, so that they stand in line

class ContactPanel {
  constructor(app, name) {
    Object.assign(this, { app, name, quantity: "pressure" });
    const select = make("select", { name: "quantity", onchange: () => {
      this.quantity = select.value;
      this.show();
    } }, make("option", { value: "pressure" }, "pressure (force over area)"),
      make("option", { value: "force" }, "force of each node"));
    this.counts = make("p", { class: "caption" });
    const host = (label) => make("div", { class: "chart", role: "img", "aria-label": label });
    this.hosts = { force: host(`pressure and friction along contact ${name}`),
      status: host(`status along contact ${name}`), gap: host(`gap along contact ${name}`) };
    this.map = make("canvas", { class: "statusmap", role: "img",
      "aria-label": `status along contact ${name} over the saved steps` });
    this.mapBox = make("figure", {}, make("figcaption", {}, "Status over the saved steps"), this.map,
      make("p", { class: "caption" }, ...Object.entries(STATUS).map(([status, style]) =>
        make("span", { class: "key" }, make("i", { style: `background:${style.band}` }), status)),
      make("span", { class: "hint" }, "choose a step by a click")));
    this.element = make("section", { class: "card contact" },
      make("h2", {}, `Contact ${name}`), make("div", { class: "controls" },
        make("label", {}, "Reactions as", select)), this.counts,
      this.hosts.force, this.hosts.status, this.hosts.gap, this.mapBox);
    this.charts = {};
    this.map.addEventListener("click", (event) => {
      const part = 1 - event.offsetY / this.map.clientHeight;
      const steps = this.steps();
      const step = steps[Math.min(steps.length - 1, Math.max(0, Math.floor(part * steps.length)))];
      app.setIndex(app.report.steps.indexOf(step));
    });
  }

  steps() {
    return this.app.report.steps.filter((s) => s.status && this.name in s.status);
  }

  async show() {
    const { app } = this;
    const step = app.report.steps[app.index];
    if (!step || !step.contacts) return;
    const table = (await app.contactTables(step))[this.name];
    if (!table || step !== app.report.steps[app.index]) return;
    const order = table.s.map((_, i) => i).sort((a, b) => table.s[a] - table.s[b]);
    this.order = order;
    const column = (name) => order.map((i) => table[name][i]);
    const { units, statuses } = app.report;
    const along = scaledUnit(largest(table.s), units.length);
    const x = column("s").map((s) => along.factor * s);
    const xLabel = `length along the contact (${along.unit})`;
    this.drawForces(x, xLabel, column, units);
    this.drawStatus(x, xLabel, column("status"), statuses);
    const gap = scaledUnit(largest(table.gap), units.length);
    this.charts.gap ||= new Chart(this.hosts.gap, { height: 190, ySize: AXIS });
    Object.assign(this.charts.gap.options, { xLabel, xName: "s", yLabel: `gap (${gap.unit})` });
    this.charts.gap.draw(x, [{ label: "gap", values: column("gap").map((g) => g && gap.factor * g),
      line: LINES[2] }]);
    const counts = statuses.map((status, i) =>
      `${table.status.filter((s) => s === i).length} ${status}`);
    const total = (name) => table[name].reduce((sum, v) => sum + v, 0);
    const sum = scaledUnit(Math.max(Math.abs(total("RN")), Math.abs(total("RT"))), units.force);
    this.counts.textContent = `t = ${nice(step.time, 6)} (step ${step.number}): ${counts.join(", ")}`
      + `; total RN = ${nice(sum.factor * total("RN"))} ${sum.unit}, RT = `
      + `${nice(sum.factor * total("RT"))} ${sum.unit}.`;
  }

  drawForces(x, xLabel, column, units) {
    const areal = this.quantity === "pressure";
    const support = column("support");
    const value = (name, size) => column(name).map((v, i) => {
      if (v == null || (areal && !(support[i] > 0))) return null;
      return (size ? Math.abs(v) : v) / (areal ? support[i] : 1);
    });
    const normal = value("RN"), tangential = value("RT", true);
    const { factor, unit } = scaledUnit(Math.max(largest(normal), largest(tangential)),
      areal ? units.stress : units.force);
    const scaled = (values) => values.map((v) => v == null ? null : factor * v);
    const names = areal ? ["pressure", "friction", "friction bound"] : ["RN", "|RT|", "bound of |RT|"];
    this.charts.force ||= new Chart(this.hosts.force, { height: 280, ySize: AXIS });
    Object.assign(this.charts.force.options, { xLabel, xName: "s",
      yLabel: (areal ? "reaction per area" : "reaction per node") + ` (${unit})` });
    const few = x.length <= 120;
    this.charts.force.draw(x, [
      // wide and pale below the others: it coincides with them under sliding
      { label: names[2], values: scaled(value("bound")), line: "#f0c75e", width: 7, dash: [], points: false },
      { label: names[0], values: scaled(normal), line: LINES[0], dash: [], points: few, fill: LINES[0] },
      { label: names[1], values: scaled(tangential), line: LINES[1], dash: [7, 4], points: few },
    ]);
  }

  drawStatus(x, xLabel, status, statuses) {
    const after = (u) => {
      u.ctx.save();
      u.ctx.setLineDash([]);
      const r = Math.max(2, Math.min(5, 0.4 * u.bbox.width / devicePixelRatio / Math.max(1, x.length)))
        * devicePixelRatio;
      u.data[0].forEach((s, i) => {
        const style = STATUS[statuses[u.data[1][i]]];
        if (!style) return;
        u.ctx.fillStyle = style.fill;
        u.ctx.strokeStyle = style.line;
        u.ctx.lineWidth = 1.2 * devicePixelRatio;
        drawMark(u.ctx, style.shape, u.valToPos(s, "x", true), u.valToPos(u.data[1][i], "y", true), r);
      });
      u.ctx.restore();
      this.drawMap();
    };
    this.charts.status ||= new Chart(this.hosts.status, { height: 150, limits: [-0.6, 2.6], bare: true,
      ySplits: () => statuses.map((_, i) => i), yValues: () => statuses, ySize: AXIS, after });
    Object.assign(this.charts.status.options, { xLabel, xName: "s", yLabel: " " });
    this.charts.status.draw(x, [{ label: "status", values: status, line: "#bbb", width: 1, dash: [2, 3],
      points: false }]);
  }

  // status by length along the contact, a row for each saved step, in line with the curves above
  drawMap() {
    const steps = this.steps();
    const plot = this.charts.status && this.charts.status.plot;
    this.mapBox.hidden = steps.length < 2;
    const width = this.mapBox.clientWidth;
    if (this.mapBox.hidden || !width || !plot) return;
    const height = Math.max(90, Math.min(280, 6 * steps.length));
    const ratio = Math.min(2, devicePixelRatio || 1);
    Object.assign(this.map, { width: width * ratio, height: height * ratio });
    this.map.style.height = height + "px";
    const context = this.map.getContext("2d");
    const left = plot.bbox.left / devicePixelRatio * ratio;
    const wide = plot.bbox.width / devicePixelRatio * ratio;
    const x = plot.data[0];
    const span = x.at(-1) - x[0] || 1;
    const cut = (i) => left + wide * (i <= 0 ? 0 : i >= x.length ? 1
      : ((x[i - 1] + x[i]) / 2 - x[0]) / span);
    const tall = this.map.height / steps.length;
    let here = -1;
    steps.forEach((step, row) => {
      const text = step.status[this.name];
      const order = text.length === this.order.length ? this.order : [...text].map((_, i) => i);
      const top = this.map.height - (row + 1) * tall;
      order.forEach((k, i) => {
        context.fillStyle = STATUS[this.app.report.statuses[text[k]]].band;
        const from = Math.floor(cut(i)), to = Math.ceil(cut(i + 1));
        context.fillRect(from, Math.floor(top), to - from, Math.ceil(tall));
      });
      if (step === this.app.report.steps[this.app.index]) here = top + tall / 2;
    });
    context.strokeStyle = "#777";
    context.strokeRect(left, 0.5, wide, this.map.height - 1);
    context.fillStyle = "#222";
    context.font = `${12 * ratio}px system-ui, sans-serif`;
    context.textAlign = "right";
    const far = Math.abs(here - this.map.height / 2) < this.map.height / 2 - 26 * ratio;
    const label = (step, y) => context.fillText(`t = ${nice(step.time, 3)}`, left - 14 * ratio, y);
    if (here < 0 || far || here > this.map.height / 2) label(steps.at(-1), 12 * ratio);
    if (here < 0 || far || here < this.map.height / 2) label(steps[0], this.map.height - 3 * ratio);
    if (here < 0) return;
    label(this.app.report.steps[this.app.index],
      Math.min(this.map.height - 3 * ratio, Math.max(12 * ratio, here + 4 * ratio)));
    context.beginPath();
    context.moveTo(left - 1, here);
    context.lineTo(left - 10 * ratio, here - 5 * ratio);
    context.lineTo(left - 10 * ratio, here + 5 * ratio);
    context.fill();
  }
}
