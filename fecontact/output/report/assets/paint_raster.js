// The coloured body without WebGL: triangles filled pixel by pixel.

class RasterPainter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.kind = "raster";
    this.pairs = null;
  }

  mesh(nodes, triangles) {
    this.nodes = nodes;
    this.triangles = triangles;
    this.pairs = null;
  }

  edges(pairs) {
    this.pairs = pairs;
  }

  step(ux, uy, values) {
    Object.assign(this, { ux, uy, values });
  }

  draw(view, amplification, [low, high], table, edges) {
    const { width, height } = this.canvas;
    const { nodes, ux, uy, values, triangles } = this;
    const count = values.length;
    const x = new Float32Array(count), y = new Float32Array(count), level = new Float32Array(count);
    const factor = high > low ? 255 / (high - low) : 0;
    for (let i = 0; i < count; i++) {
      x[i] = view.x + view.scale * (nodes[2 * i] + amplification * ux[i]);
      y[i] = view.y - view.scale * (nodes[2 * i + 1] + amplification * uy[i]);
      level[i] = Math.min(255, Math.max(0, (values[i] - low) * factor));
    }
    const image = this.context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const colours = new Uint32Array(table.buffer);
    for (let t = 0; t < triangles.length; t += 3)
      fillTriangle(pixels, width, height, colours, x, y, level,
        triangles[t], triangles[t + 1], triangles[t + 2]);
    this.context.putImageData(image, 0, 0);
    if (edges && this.pairs) this.drawEdges(x, y);
  }

  drawEdges(x, y) {
    const { context, pairs } = this;
    context.strokeStyle = "rgba(0, 0, 0, 0.28)";
    context.lineWidth = 1;
    context.beginPath();
    for (let i = 0; i < pairs.length; i += 2) {
      context.moveTo(x[pairs[i]], y[pairs[i]]);
      context.lineTo(x[pairs[i + 1]], y[pairs[i + 1]]);
    }
    context.stroke();
  }
}

// levels are linear over the triangle: value at the first corner and slopes along x and y
function fillTriangle(pixels, width, height, colours, x, y, level, a, b, c) {
  const ax = x[a], ay = y[a], bx = x[b], by = y[b], cx = x[c], cy = y[c];
  const area = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
  if (!area) return;
  const top = Math.max(0, Math.ceil(Math.min(ay, by, cy) - 0.5));
  const bottom = Math.min(height - 1, Math.floor(Math.max(ay, by, cy) - 0.5));
  const db = level[b] - level[a], dc = level[c] - level[a];
  const gx = (db * (cy - ay) - dc * (by - ay)) / area;
  const gy = (dc * (bx - ax) - db * (cx - ax)) / area;
  for (let row = top; row <= bottom; row++) {
    const at = row + 0.5;
    let left = Infinity, right = -Infinity;
    for (let side = 0; side < 3; side++) {
      const px = side === 0 ? ax : side === 1 ? bx : cx, py = side === 0 ? ay : side === 1 ? by : cy;
      const qx = side === 0 ? bx : side === 1 ? cx : ax, qy = side === 0 ? by : side === 1 ? cy : ay;
      if ((py <= at) === (qy <= at)) continue;
      const cut = px + (at - py) * (qx - px) / (qy - py);
      if (cut < left) left = cut;
      if (cut > right) right = cut;
    }
    const first = Math.max(0, Math.ceil(left - 0.5)), last = Math.min(width - 1, Math.ceil(right - 0.5) - 1);
    let value = level[a] + gx * (first + 0.5 - ax) + gy * (at - ay);
    for (let column = first, place = row * width + first; column <= last; column++, place++) {
      pixels[place] = colours[value < 0 ? 0 : value > 255 ? 255 : value | 0];
      value += gx;
    }
  }
}
