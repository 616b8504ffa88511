// Histories over the steps: forces, energies, status, iterations and residuals.

const ENERGY = /^energy_/;

// charts of the columns: [{title, columns, kind, log}]
function historyCharts(columns, summary, probes) {
  const left = new Set(columns.filter((c) => !["step", "time"].includes(c)));
  const take = (test) => {
    const found = [...left].filter((c) => !(c in probes) && test(c));
    found.forEach((c) => left.delete(c));
    return found;
  };
  const found = [];
  const add = (title, chosen, more = {}) => {
    if (chosen.length) found.push({ title, columns: chosen, ...more });
  };
  for (const name of Object.keys(summary.contacts || {})) {
    add(`Forces of contact ${name}`, take((c) => c === `RN_${name}` || c === `RT_${name}`),
      { kind: "force" });
    add(`Status of contact ${name}`,
      take((c) => ["separated", "sliding", "sticking"].some((s) => c === `${s}_${name}`)), {});
  }
  add("Reactions of supports", take((c) => /^R[xyz]_/.test(c)), { kind: "force" });
  const balance = take((c) => c === "energy_balance");
  add("Energies, works and dissipations", take((c) => ENERGY.test(c)), { kind: "energy" });
  add("Energy balance, relative", balance, { log: true });
  add("Iterations of the friction solver", take((c) => c === "iterations"), {});
  add("Residual of the friction problem", take((c) => c === "residual"), { log: true });
  add("Force balance, relative", take((c) => c === "balance"), { log: true });
  add("Step size", take((c) => c === "h"), { varying: true });
  for (const name of Object.keys(summary.contacts || {}))
    add(`Normal velocity where it pushes, contact ${name}`, take((c) => c === `uN_${name}`),
      { kind: "velocity" });
  const kinds = { u: "length", v: "velocity" };
  for (const name of [...left]) {
    const probe = probes[name] || {};
    const told = probe.on ? `, ${probe.quantity} of ${probe.on}` : "";
    add(name.replaceAll("_", " ") + told, [name], { kind: probe.on && kinds[probe.quantity[0]] });
  }
  return found;
}

// without what the title says already
function shortName(column, title) {
  const contact = title.split(" contact ")[1];
  const name = contact && column.endsWith("_" + contact) ? column.slice(0, -contact.length - 1) : column;
  return name.replace(/^energy_/, "").replaceAll("_", " ");
}

function renderHistory(app) {
  const { history, summary, units } = app.report;
  const { columns, rows } = history;
  if (rows.length === 0) return refill("history");
  const head = make("h2", {}, "Histories");
  if (rows.length === 1)
    return refill("history", head, make("p", {}, "The run has one step; its numbers are in the table below."));
  const place = Object.fromEntries(columns.map((c, i) => [c, i]));
  const values = (name) => rows.map((row) => row[place[name]]);
  const time = "time" in place ? values("time") : values("step");
  const grid = make("div", { class: "grid" });
  refill("history", head, grid);
  app.timeCharts = [];
  for (const { title, columns: chosen, kind, log, varying } of historyCharts(columns, summary,
    summary.probes || {})) {
    const found = chosen.map(values);
    const flat = found.flat();
    if (flat.every((v) => v == null)) continue;
    if (varying && largest(flat.map((v) => v - flat[0])) < 1e-9 * largest(flat)) continue;
    const { factor, unit } = kind ? scaledUnit(largest(flat), units[kind]) : { factor: 1, unit: "" };
    const host = make("div", { class: "chart", role: "img", "aria-label": title });
    grid.append(make("figure", {}, make("figcaption", {}, title), host));
    // curves that stay at zero are named instead of drawn
    const zero = chosen.length > 2 ? chosen.filter((_, i) => largest(found[i]) === 0) : [];
    const drawn = zero.length < chosen.length ? chosen.filter((name) => !zero.includes(name)) : chosen;
    const series = drawn.map((name) => ({ label: shortName(name, title),
      values: values(name).map((v) => (v == null ? null : factor * v)) }));
    const tolerance = chosen[0] === "residual" && summary.tolerance;
    if (tolerance) series.push({ label: "tolerance", values: time.map(() => tolerance), points: false,
      line: "#595959", dash: [6, 4] });
    const chart = new Chart(host, { xLabel: `time (${units.time})`, xName: "t", yLabel: unit || null, log,
      height: 230, after: timeMark(app), pick: (i) => app.showTime(time[i]) });
    chart.draw(time, series);
    if (zero.length && drawn !== chosen) host.after(make("p", { class: "caption" },
      `Zero throughout: ${zero.map((name) => shortName(name, title)).join(", ")}.`));
    app.timeCharts.push(chart);
  }
}
