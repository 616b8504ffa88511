// Curves, by uPlot: every series has its own colour, dash and name.

const charts = new Set();
const FONT = "12px system-ui, sans-serif";

class Chart {
  // series: [{label, values, line, dash, width, marks, points}], all over the same sorted x
  constructor(host, options) {
    this.host = host;
    this.options = options;
    this.plot = null;
    charts.add(this);
    new ResizeObserver(() => this.fit()).observe(host);
  }

  fit() {
    if (!this.host.isConnected) { charts.delete(this); return; }
    if (this.plot) this.plot.setSize({ width: this.host.clientWidth, height: this.height() });
  }

  height() {
    return this.options.height || 260;
  }

  draw(x, series) {
    const { options } = this;
    const positive = (v) => (options.log && !(v > 0) ? null : v);
    const data = [x, ...series.map((s) => Array.from(s.values, (v) => (v == null ? null : positive(v))))];
    const shape = series.map((s) => s.label).join("|") + options.yLabel + options.xLabel;
    if (this.plot && this.shape === shape) {
      this.plot.setData(data);
      return;
    }
    if (this.plot) this.plot.destroy();
    this.shape = shape;
    const axis = { font: FONT, labelFont: FONT, labelSize: 22, stroke: "#222",
      grid: { stroke: "#e4e4e4", width: 1 }, ticks: { stroke: "#bbb", width: 1 } };
    const values = (u, splits) => splits.map((v) => (v == null ? "" : nice(v, 5)));
    const lines = series.map((s, i) => ({
      label: s.label,
      stroke: s.line || LINES[i % LINES.length],
      dash: s.dash || DASHES[i % DASHES.length],
      width: s.width || 2,
      points: { show: s.points ?? x.length <= 40, size: s.size || 6, fill: s.fill || "#fff" },
      value: (u, v) => (v == null ? "" : nice(v)),
      spanGaps: false,
    }));
    const limits = (u, low, high) => {
      if (options.limits) return options.limits;
      if (low == null || (low === 0 && high === 0)) return options.log ? [1e-16, 1] : [0, 1];
      if (options.log) return [10 ** Math.floor(Math.log10(low) - 1e-9), 10 ** Math.ceil(Math.log10(high) + 1e-9)];
      const margin = 0.06 * (Math.max(high, 0) - Math.min(low, 0)) || 1;
      return [low < 0 ? low - margin : 0, high > 0 ? high + margin : 0];
    };
    this.plot = new uPlot({
      width: Math.max(120, this.host.clientWidth),
      height: this.height(),
      legend: { show: !options.bare, live: x.length > 1,
        markers: { width: 0, fill: (u, i) => legendLine(lines[i - 1]) } },
      cursor: { y: false, drag: { x: false, y: false }, points: { size: 8 } },
      scales: {
        x: { time: false, range: (u, low, high) => (high > low ? [low, high] : [low - 0.5, high + 0.5]) },
        y: { distr: options.log ? 3 : 1, range: limits },
      },
      axes: [
        { ...axis, label: options.xLabel, values, space: 70, size: 32 },
        { ...axis, label: options.yLabel, size: options.ySize || 64,
          values: options.yValues || (options.log
            ? (u, splits) => splits.map((v) => (v > 0 && Number.isInteger(Math.round(1e6 * Math.log10(v)) / 1e6) ? nice(v, 2) : ""))
            : values),
          splits: options.ySplits, space: options.log ? 24 : 36 },
      ],
      series: [{ label: options.xName || options.xLabel, value: (u, v) => (v == null ? "" : nice(v, 5)) },
        ...lines],
      hooks: {
        draw: options.after ? [(u) => options.after(u)] : [],
        ready: options.pick ? [(u) => u.over.addEventListener("click", () => {
          if (u.cursor.idx != null) options.pick(u.cursor.idx);
        })] : [],
      },
    }, data, this.host);
  }

  // again, with the values at a place in the legend
  redraw(idx) {
    if (!this.plot) return;
    this.plot.redraw(false, false);
    if (idx != null) this.plot.setLegend({ idx });
  }
}

// the line itself as the mark of a legend: colour and dash
function legendLine(series) {
  if (!series) return "none";
  const { stroke, dash, width } = series;
  const parts = [];
  let at = 0;
  (dash.length ? dash : [30]).forEach((length, i) => {
    parts.push(`${i % 2 ? "transparent" : stroke} ${at}px ${at + length}px`);
    at += length;
  });
  return `repeating-linear-gradient(90deg, ${parts.join(", ")}) center / 100% ${Math.max(2, width)}px no-repeat`;
}

// vertical line at the shown step
function timeMark(app) {
  return (u) => {
    const step = app.report.steps[app.index];
    if (!step) return;
    const x = Math.round(u.valToPos(step.time, "x", true));
    const { left, top, width, height } = u.bbox;
    if (x < left || x > left + width) return;
    u.ctx.save();
    u.ctx.strokeStyle = "#222";
    u.ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
    u.ctx.lineWidth = devicePixelRatio;
    u.ctx.beginPath();
    u.ctx.moveTo(x, top);
    u.ctx.lineTo(x, top + height);
    u.ctx.stroke();
    u.ctx.restore();
  };
}
