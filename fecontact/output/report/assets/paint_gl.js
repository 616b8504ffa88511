// The coloured body by WebGL 2.

const VERTEX = `#version 300 es
uniform vec2 scale, offset, range;
uniform float amplification;
layout(location = 0) in vec2 place;
layout(location = 1) in float ux;
layout(location = 2) in float uy;
layout(location = 3) in float value;
out float level;
void main() {
  gl_Position = vec4((place + amplification * vec2(ux, uy)) * scale + offset, 0.0, 1.0);
  level = (value - range.x) * range.y;
}`;
const FRAGMENT = `#version 300 es
precision highp float;
uniform sampler2D colours;
uniform vec4 plain;
in float level;
out vec4 colour;
void main() {
  float at = clamp(level, 0.0, 1.0) * (255.0 / 256.0) + 0.5 / 256.0;
  colour = plain.a > 0.0 ? plain : texture(colours, vec2(at, 0.5));
}`;

const EMULATED = /swiftshader|llvmpipe|softpipe|software|basic render/i;

function rendererOf(gl) {
  const told = gl.getExtension("WEBGL_debug_renderer_info");
  return String(gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
}

class GlPainter {
  // Without a graphics card, WebGL is emulated: slower than filling the triangles here, and on a
  // busy machine by far. It is taken only if asked for.
  static make(canvas, emulated) {
    const gl = canvas.getContext("webgl2", { antialias: true, preserveDrawingBuffer: true,
      failIfMajorPerformanceCaveat: !emulated });
    if (!gl || (!emulated && EMULATED.test(rendererOf(gl)))) return null;
    return new GlPainter(canvas, gl);
  }

  constructor(canvas, gl) {
    this.canvas = canvas;
    this.gl = gl;
    this.kind = "webgl";
    const program = gl.createProgram();
    for (const [kind, source] of [[gl.VERTEX_SHADER, VERTEX], [gl.FRAGMENT_SHADER, FRAGMENT]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    }
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS))
      throw new Error(gl.getProgramInfoLog(program));
    gl.useProgram(program);
    this.at = (name) => gl.getUniformLocation(program, name);
    this.buffers = [0, 1, 2, 3].map((place) => {
      const buffer = gl.createBuffer();
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.enableVertexAttribArray(place);
      gl.vertexAttribPointer(place, place === 0 ? 2 : 1, gl.FLOAT, false, 0, 0);
      return buffer;
    });
    this.triangles = gl.createBuffer();
    this.lines = gl.createBuffer();
    gl.bindTexture(gl.TEXTURE_2D, gl.createTexture());
    for (const side of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T])
      gl.texParameteri(gl.TEXTURE_2D, side, gl.CLAMP_TO_EDGE);
    for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER])
      gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  }

  fill(place, values) {
    const { gl } = this;
    gl.bindBuffer(gl.ARRAY_BUFFER, this.buffers[place]);
    gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
  }

  mesh(nodes, triangles) {
    const { gl } = this;
    this.fill(0, nodes);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.triangles);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, triangles, gl.STATIC_DRAW);
    this.triangleCount = triangles.length;
    this.lineCount = 0;
  }

  edges(pairs) {
    const { gl } = this;
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.lines);
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, pairs, gl.STATIC_DRAW);
    this.lineCount = pairs.length;
  }

  step(ux, uy, values) {
    this.fill(1, ux);
    this.fill(2, uy);
    this.fill(3, values);
  }

  // view: pixels per length and the pixel of the origin, in pixels of the canvas
  draw(view, amplification, [low, high], table, edges) {
    const { gl, canvas } = this;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
    gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA, 256, 1, 0, gl.RGBA, gl.UNSIGNED_BYTE, table);
    gl.uniform2f(this.at("scale"), 2 * view.scale / canvas.width, 2 * view.scale / canvas.height);
    gl.uniform2f(this.at("offset"), 2 * view.x / canvas.width - 1, 1 - 2 * view.y / canvas.height);
    gl.uniform2f(this.at("range"), low, high > low ? 1 / (high - low) : 0);
    gl.uniform1f(this.at("amplification"), amplification);
    gl.uniform4f(this.at("plain"), 0, 0, 0, 0);
    gl.disable(gl.BLEND);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.triangles);
    gl.drawElements(gl.TRIANGLES, this.triangleCount, gl.UNSIGNED_INT, 0);
    if (edges && this.lineCount) {
      gl.enable(gl.BLEND);
      gl.uniform4f(this.at("plain"), 0, 0, 0, 0.28);
      gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, this.lines);
      gl.drawElements(gl.LINES, this.lineCount, gl.UNSIGNED_INT, 0);
    }
    gl.finish();
  }
}
