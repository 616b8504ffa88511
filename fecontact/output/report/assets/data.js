// Large arrays: text in the page, or on the server of a live page, decoded when they are needed.

const KEPT_BYTES = 128e6;
const decodedSteps = new Map();
let decodedBytes = 0;

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

const fetchedChunks = new Map();

async function chunkText(name) {
  const element = document.getElementById("chunk-" + name);
  if (element) return element.textContent;
  if (!fetchedChunks.has(name)) {
    const answer = await fetch("chunk/" + name);
    if (!answer.ok) throw new Error("chunk " + name + ": " + answer.status);
    fetchedChunks.set(name, await answer.text());
  }
  return fetchedChunks.get(name);
}

async function chunkBytes(name) {
  if (typeof DecompressionStream === "undefined")
    throw new Error("this browser cannot unpack the fields; one of 2023 or later can");
  const packed = new Blob([fromBase64(await chunkText(name))]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function chunkJson(name) {
  return JSON.parse(new TextDecoder().decode(await chunkBytes(name)));
}

// four byte planes, differences of consecutive integers
function readIntegers(bytes, start, count) {
  const found = new Int32Array(count);
  let last = 0;
  for (let i = 0; i < count; i++) {
    const at = start + i;
    const step = bytes[at] | (bytes[at + count] << 8) | (bytes[at + 2 * count] << 16)
      | (bytes[at + 3 * count] << 24);
    last = (last + step) | 0;
    found[i] = last;
  }
  return found;
}

function readFloats(bytes, start, count) {
  const raw = new Uint8Array(4 * count);
  for (let i = 0; i < count; i++)
    for (let k = 0; k < 4; k++) raw[4 * i + k] = bytes[start + k * count + i];
  return new Float32Array(raw.buffer);
}

// two byte planes, differences of levels between the extremes
function readQuantised(bytes, start, count, low, high) {
  const found = new Float32Array(count);
  const scale = (high - low) / 65535;
  let level = 0;
  for (let i = 0; i < count; i++) {
    level = (level + (bytes[start + i] | (bytes[start + count + i] << 8))) & 0xffff;
    found[i] = low + scale * level;
  }
  return found;
}

async function loadMesh(told) {
  const bytes = await chunkBytes(told.chunk);
  const n = told.nodes;
  let at = 0;
  const nodes = readFloats(bytes, at, 2 * n);
  at += 8 * n;
  const triangles = readIntegers(bytes, at, 3 * told.triangles);
  at += 12 * told.triangles;
  const quads = readIntegers(bytes, at, 4 * told.quads);
  return { count: n, nodes, triangles, quads, centre: told.centre };
}

async function loadGroups(told) {
  const total = told.groups.reduce((sum, group) => sum + group.size, 0);
  const numbers = total ? readIntegers(await chunkBytes("groups"), 0, total) : new Int32Array(0);
  let at = 0;
  return told.groups.map((group) => {
    const own = numbers.subarray(at, at + group.size);
    at += group.size;
    return { ...group, numbers: own };
  });
}

// components of a step by name, each a Float32Array over the nodes
async function loadFields(step, count) {
  if (decodedSteps.has(step.fields)) return decodedSteps.get(step.fields);
  const bytes = await chunkBytes(step.fields);
  const parts = {};
  let at = 0;
  for (const [name, [low, high]] of Object.entries(step.components)) {
    parts[name] = readQuantised(bytes, at, count, low, high);
    at += 2 * count;
  }
  const size = 2 * bytes.length;
  while (decodedBytes + size > KEPT_BYTES && decodedSteps.size) {
    const [oldest, dropped] = decodedSteps.entries().next().value;
    decodedSteps.delete(oldest);
    for (const part of Object.values(dropped)) decodedBytes -= part.byteLength;
  }
  decodedSteps.set(step.fields, parts);
  decodedBytes += size;
  return parts;
}
