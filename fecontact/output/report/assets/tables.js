// Tables that sort by a click on a column's head.

const FIRST_ROWS = 100;

function csvText(columns, rows) {
  const cell = (v) => (v == null ? "" : /[",\n]/.test(String(v)) ? `"${String(v).replaceAll('"', '""')}"` : v);
  return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

function compareCells(a, b) {
  if (a == null || b == null) return (a == null) - (b == null);
  return typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b));
}

// options: name of the table, file of the same data beside the page
function sortedTable(columns, rows, { name, file } = {}) {
  const state = { column: -1, down: false, all: rows.length <= FIRST_ROWS };
  const body = make("tbody");
  const heads = columns.map((column, i) => make("th", { scope: "col", "aria-sort": "none" },
    make("button", { type: "button", onclick: () => {
      state.down = state.column === i && !state.down;
      state.column = i;
      fill();
    } }, String(column).replaceAll("_", " "))));
  const more = make("button", { type: "button", class: "more", onclick: () => {
    state.all = true;
    fill();
  } }, `show all ${rows.length} rows`);
  function fill() {
    const sorted = state.column < 0 ? rows : [...rows].sort((a, b) => {
      const order = compareCells(a[state.column], b[state.column]);
      return a[state.column] == null || b[state.column] == null || !state.down ? order : -order;
    });
    body.replaceChildren(...(state.all ? sorted : sorted.slice(0, FIRST_ROWS)).map((row) =>
      make("tr", {}, ...row.map((v) => make("td", { class: typeof v === "number" ? "number" : "" },
        typeof v === "number" ? nice(v, 6) : v == null ? "–" : String(v))))));
    heads.forEach((head, i) => head.setAttribute("aria-sort",
      i !== state.column ? "none" : state.down ? "descending" : "ascending"));
    more.hidden = state.all;
  }
  fill();
  const links = make("p", { class: "links" });
  if (file) links.append(make("a", { href: file, download: file }, file), " beside this page · ");
  links.append(make("button", { type: "button", class: "link",
    onclick: () => download(`${name}.csv`, csvText(columns, rows)) }, "save this table as CSV"));
  return make("div", { class: "tablebox" },
    make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name },
      make("table", {}, make("thead", {}, make("tr", {}, ...heads)), body)), more, links);
}

const CONTACT_COLUMNS = ["node", "s", "x", "y", "ux", "uy", "gap", "status", "RN", "RT", "bound", "uN",
  "uT", "RN_equivalent", "RT_equivalent", "friction"];

async function renderTables(app) {
  const { history, steps, statuses, files } = app.report;
  const beside = new Set(files.map((f) => f.name));
  const parts = [];
  const entry = (title, table, open) => parts.push(make("details", { open },
    make("summary", {}, title), table));
  const step = steps[app.index];
  if (step && step.contacts) {
    const tables = await app.contactTables(step);
    if (step !== app.report.steps[app.index]) return;
    const last = step === steps.at(-1);
    for (const [name, table] of Object.entries(tables)) {
      const shown = CONTACT_COLUMNS.filter((c) => c in table);
      const rows = table.node.map((_, i) => shown.map((c) =>
        c === "status" ? statuses[table.status[i]] : table[c][i]));
      const own = `contact_${name}.csv`;
      const file = !last ? null : beside.has(own) ? own
        : beside.has("contact.csv") && Object.keys(tables).length === 1 ? "contact.csv" : null;
      entry(`Contact ${name} at t = ${nice(step.time, 6)}`,
        sortedTable(shown, rows, { name: `contact_${name}_step_${step.number}`, file }), app.opened.contact);
    }
  }
  if (history.rows.length)
    entry("History", sortedTable(history.columns, history.rows,
      { name: "history", file: beside.has("history.csv") ? "history.csv" : null }), app.opened.history);
  if (files.length) {
    const list = make("ul", { class: "files" }, ...files.map((f) => make("li", {},
      make("a", { href: encodeURIComponent(f.name) }, f.name), ` ${fileSize(f.bytes)}`)));
    entry("Files of the run", list, false);
  }
  const { summary } = app.report;
  const units = `SI units${summary.forces ? `; forces ${summary.forces}` : ""}.`;
  if (parts.length) refill("tables", make("h2", {}, "Tables"), make("p", { class: "caption" }, units), ...parts);
  else refill("tables");
  parts.forEach((part) => part.addEventListener("toggle", () => {
    const title = part.querySelector("summary").textContent;
    app.opened[title.startsWith("Contact") ? "contact" : title.toLowerCase()] = part.open;
  }));
}
