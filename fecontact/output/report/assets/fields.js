// Fields that the viewer offers, each from the components that are stored.

const FIELDS = {
  von_mises: { label: "von Mises stress", kind: "stress", from: ["sxx", "syy", "szz", "sxy"],
    value: (a, b, c, d) =>
      Math.sqrt(((a - b) ** 2 + (b - c) ** 2 + (c - a) ** 2) / 2 + 3 * d * d) },
  sxx: { label: "stress xx", kind: "stress" },
  syy: { label: "stress yy", kind: "stress" },
  szz: { label: "stress zz (out of plane)", kind: "stress" },
  sxy: { label: "stress xy", kind: "stress" },
  s_max: { label: "largest principal stress", kind: "stress", from: ["sxx", "syy", "szz", "sxy"],
    value: (a, b, c, d) => Math.max((a + b) / 2 + Math.hypot((a - b) / 2, d), c) },
  s_min: { label: "smallest principal stress", kind: "stress", from: ["sxx", "syy", "szz", "sxy"],
    value: (a, b, c, d) => Math.min((a + b) / 2 - Math.hypot((a - b) / 2, d), c) },
  mean_pressure: { label: "mean pressure", kind: "stress", from: ["sxx", "syy", "szz"],
    value: (a, b, c) => -(a + b + c) / 3 },
  u: { label: "displacement, length", kind: "length", from: ["ux", "uy"], value: Math.hypot },
  ux: { label: "displacement x", kind: "length" },
  uy: { label: "displacement y", kind: "length" },
  exx: { label: "strain xx", kind: "strain" },
  eyy: { label: "strain yy", kind: "strain" },
  ezz: { label: "strain zz (out of plane)", kind: "strain" },
  gxy: { label: "shear strain xy (engineering)", kind: "strain" },
  e_max: { label: "largest principal strain", kind: "strain", from: ["exx", "eyy", "ezz", "gxy"],
    value: (a, b, c, d) => Math.max((a + b) / 2 + Math.hypot((a - b) / 2, d / 2), c) },
  e_min: { label: "smallest principal strain", kind: "strain", from: ["exx", "eyy", "ezz", "gxy"],
    value: (a, b, c, d) => Math.min((a + b) / 2 - Math.hypot((a - b) / 2, d / 2), c) },
  dilatation: { label: "change of volume", kind: "strain", from: ["exx", "eyy", "ezz"],
    value: (a, b, c) => a + b + c },
  v: { label: "velocity, length", kind: "velocity", from: ["vx", "vy"], value: Math.hypot },
  vx: { label: "velocity x", kind: "velocity" },
  vy: { label: "velocity y", kind: "velocity" },
};

function fieldOf(name) {
  return FIELDS[name] || { label: name.replaceAll("_", " "), kind: "" };
}

function fieldValues(name, parts, count) {
  const field = fieldOf(name);
  if (!field.from) return parts[name] || new Float32Array(count);
  const [a, b, c, d] = field.from.map((part) => parts[part]);
  const found = new Float32Array(count);
  if (field.from.length === 2) for (let i = 0; i < count; i++) found[i] = field.value(a[i], b[i]);
  else if (field.from.length === 3)
    for (let i = 0; i < count; i++) found[i] = field.value(a[i], b[i], c[i]);
  else for (let i = 0; i < count; i++) found[i] = field.value(a[i], b[i], c[i], d[i]);
  return found;
}
