// The page: head, verdicts, the step that is shown, and the refresh of a live page.

const BADGES = { done: ["✓", "converged", "good"], failed: ["✗", "not converged", "bad"],
  refuted: ["✗", "results refuted", "bad"], interrupted: ["!", "interrupted", "warning"], running: ["…", "running", "note"],
  unfinished: ["!", "unfinished", "warning"] };
const LEVELS = { good: "✓", note: "i", warning: "!", bad: "✗" };

const app = {
  report: JSON.parse(document.getElementById("data").textContent),
  index: 0, opened: { contact: true, history: false }, panels: new Map(), timeCharts: [],
  tables: new Map(),

  async contactTables(step) {
    if (!this.tables.has(step.contacts)) {
      if (this.tables.size > 60) this.tables.delete(this.tables.keys().next().value);
      this.tables.set(step.contacts, chunkJson(step.contacts));
    }
    return this.tables.get(step.contacts);
  },

  async setIndex(index) {
    const { steps } = this.report;
    this.index = Math.min(steps.length - 1, Math.max(0, index));
    updateTimeline();
    await Promise.all([this.viewer && this.viewer.show(), ...[...this.panels.values()].map((p) => p.show())]);
    this.markTime();
    clearTimeout(this.later);
    // the table is remade when the slider rests
    this.later = setTimeout(() => renderTables(this).catch(tell), 150);
  },

  // the shown step in the histories
  markTime() {
    const step = this.report.steps[this.index];
    const { columns, rows } = this.report.history;
    const place = columns.indexOf("step");
    const row = step ? rows.findIndex((r) => r[place] >= step.number) : -1;
    this.timeCharts.forEach((chart) => chart.redraw(row < 0 ? null : row));
  },

  showTime(time) {
    const apart = this.report.steps.map((s) => Math.abs(s.time - time));
    this.setIndex(apart.indexOf(Math.min(...apart)));
  },
};

function tell(error) {
  console.error(error);
  document.getElementById("verdicts").prepend(
    make("p", { class: "verdict bad" }, `This page could not be drawn in full: ${error.message || error}`));
}

function renderHead() {
  const { report } = app;
  const [mark, words, level] = BADGES[report.state];
  const { times = {}, mesh = {}, wall_time: wall = {} } = report.summary;
  const facts = [
    times.time_reached != null && `t = ${nice(times.time_reached)} after ${times.steps_done} step${times.steps_done === 1 ? "" : "s"}`,
    mesh.elements && `${mesh.elements.toLocaleString("en")} elements`,
    mesh.dofs && `${mesh.dofs.toLocaleString("en")} degrees of freedom`,
    wall.total && `${seconds(wall.total)}`,
  ].filter(Boolean);
  refill("head", make("div", {}, make("h1", {}, report.title), make("p", {}, facts.join(" · "))),
    make("span", { class: `badge ${level}` }, make("b", { "aria-hidden": "true" }, mark), words));
}

function renderVerdicts() {
  const { verdicts, notes } = app.report;
  const line = (level, title, text) => make("p", { class: `verdict ${level}` },
    make("b", { class: "mark", "aria-hidden": "true" }, LEVELS[level]),
    make("span", {}, make("b", {}, title + ". "), text));
  refill("verdicts", ...verdicts.map((v) => line(v.level, v.title, v.text)),
    ...notes.map((text) => line("note", "Note", text)));
}

function renderTimeline() {
  const { steps } = app.report;
  if (steps.length < 2) { app.slider = null; return refill("timeline"); }
  if (app.slider) { app.slider.max = steps.length - 1; return null; }
  app.slider = make("input", { type: "range", min: "0", max: String(steps.length - 1), step: "1",
    id: "step", "aria-label": "saved step", oninput: () => app.setIndex(Number(app.slider.value)) });
  app.stepText = make("output", { for: "step" });
  app.play = make("button", { type: "button", "aria-label": "play", title: "play", onclick: play }, "▶");
  const by = (d, mark, title) => make("button", { type: "button", "aria-label": title, title,
    onclick: () => app.setIndex(app.index + d) }, mark);
  return refill("timeline", app.play, by(-1, "‹", "step before"), app.slider, by(1, "›", "next step"),
    app.stepText);
}

function updateTimeline() {
  const { steps } = app.report;
  if (!app.slider) return;
  app.slider.value = app.index;
  const step = steps[app.index];
  app.stepText.replaceChildren(make("b", {}, `t = ${nice(step.time, 5)}`),
    ` ${app.index + 1}/${steps.length}`);
  app.slider.setAttribute("aria-valuetext", `step ${step.number}, t = ${nice(step.time, 6)}`);
}

async function play() {
  app.playing = !app.playing;
  app.play.textContent = app.playing ? "❚❚" : "▶";
  while (app.playing) {
    const started = performance.now();
    await app.setIndex(app.index + 1 < app.report.steps.length ? app.index + 1 : 0);
    await new Promise((done) => setTimeout(done, Math.max(20, 120 - (performance.now() - started))));
    if (app.index + 1 >= app.report.steps.length) {
      app.playing = false;
      app.play.textContent = "▶";
    }
  }
}

function renderContacts() {
  const names = [...new Set(app.report.steps.flatMap((s) => Object.keys(s.status || {})))];
  for (const name of names) if (!app.panels.has(name)) app.panels.set(name, new ContactPanel(app, name));
  const host = document.getElementById("contacts");
  const panels = names.map((name) => app.panels.get(name).element);
  if (panels.some((p, i) => host.children[i] !== p)) host.replaceChildren(...panels);
}

async function renderAll(first) {
  const { report } = app;
  document.title = report.title;
  renderHead();
  renderVerdicts();
  renderTimeline();
  renderHistory(app);
  renderPhases(app);
  renderRepeat(app);
  refill("foot", make("p", {}, `Made by fecontact ${(report.summary.versions || {}).fecontact || ""}. `
    + "Curves are drawn with uPlot (MIT licence, © Leon Sorokin)."));
  if (report.mesh && !app.mesh) {
    app.viewer = new Viewer(document.getElementById("body"), app);
    await app.viewer.load();
    Object.assign(app, { mesh: app.viewer.mesh, edges: app.viewer.edges });
    app.groups = await loadGroups(report.mesh);
  } else if (app.viewer) app.viewer.update();
  document.getElementById("body").hidden = !report.steps.some((s) => s.fields);
  if (first || !app.picture) renderSetup(app);
  renderContacts();
  if (report.steps.length) await app.setIndex(app.index);
  clearTimeout(app.later);
  await renderTables(app);
}

async function follow() {
  let version = app.report.version;
  while (app.report.state === "running") {
    await new Promise((done) => setTimeout(done, 1000));
    let answer;
    try {
      answer = await fetch(`data.json?since=${version}`);
    } catch {
      document.getElementById("head").append(make("span", { class: "badge warning" }, "no longer served"));
      return;
    }
    if (answer.status !== 200) continue;
    const atEnd = app.index >= app.report.steps.length - 1;
    app.report = { ...(await answer.json()), live: true };
    version = app.report.version;
    if (atEnd) app.index = Math.max(0, app.report.steps.length - 1);
    await renderAll(false);
  }
  // the server goes when the run has ended: keep what it has
  for (const step of app.report.steps)
    for (const name of [step.fields, step.contacts]) if (name) await chunkText(name);
  await fetch("bye");
}

app.index = Math.max(0, app.report.steps.length - 1);
renderAll(true).then(() => {
  document.documentElement.dataset.ready = "yes";
  if (app.report.live) follow().catch(tell);
}).catch((error) => {
  tell(error);
  document.documentElement.dataset.ready = "no";
});
