// Numbers and units as people read them, and the making of elements.

const PREFIXES = { "-9": "n", "-6": "µ", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T", 15: "P" };

// factor and unit that bring the largest value between 1 and 1000
function scaledUnit(largest, unit) {
  if (!unit || !(largest > 0) || !isFinite(largest)) return { factor: 1, unit };
  const power = Math.min(15, Math.max(-9, 3 * Math.floor(Math.log10(largest) / 3 + 1e-9)));
  return { factor: 10 ** -power, unit: PREFIXES[power] + unit };
}

function largest(values) {
  let found = 0;
  for (const v of values) if (v != null && isFinite(v) && Math.abs(v) > found) found = Math.abs(v);
  return found;
}

function nice(value, digits = 4) {
  if (value == null || Number.isNaN(value)) return "–";
  if (!isFinite(value)) return value > 0 ? "∞" : "−∞";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e7) return String(value).replace("-", "−");
  const text = size >= 1e-3 && size < 1e5
    ? String(Number(value.toPrecision(digits)))
    : String(Number(value.toPrecision(digits)).toExponential()).replace("e+", "e");
  return text.replace(/-/g, "−");
}

function seconds(value) {
  if (value == null) return "–";
  if (value < 1e-3) return nice(value * 1e6, 2) + " µs";
  if (value < 1) return nice(value * 1e3, 3) + " ms";
  if (value < 120) return nice(value, 3) + " s";
  if (value < 7200) return nice(value / 60, 3) + " min";
  return nice(value / 3600, 3) + " h";
}

function fileSize(bytes) {
  if (bytes < 1000) return bytes + " B";
  if (bytes < 1e6) return nice(bytes / 1e3, 3) + " kB";
  return nice(bytes / 1e6, 3) + " MB";
}

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value == null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name in element && typeof value !== "string") element[name] = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((c) => c != null));
  return element;
}

function refill(id, ...children) {
  const host = document.getElementById(id);
  host.replaceChildren(...children.filter((c) => c != null));
  host.hidden = host.childNodes.length === 0;
  return host;
}

function download(name, text) {
  const url = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  const link = make("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}
