// Colours that stay apart without colour vision and in grey print: maps whose lightness grows
// steadily (samples of Matplotlib's viridis and cividis, in the public domain), and few line colours.

const MAPS = {
  viridis: "440154470d6048186a482374472d7b4537814240863e49893b528b375b8d33638d2f6b8e2c728e297a8e26"
    + "828e23898e21918c1f988b1fa08822a78528ae8032b67a3fbc734ec36b5ec96270cf5784d44b98d83eaddc30c2df"
    + "23d8e219ece51bfde725",
  cividis: "00224e00285b002e6a0533711a386f273e6e32436d3b496c434e6c4b546c535a6d5a5f6e61656f686a716f"
    + "70737676767d7c788482798c8878938e789b9476a39a74aba072b4a76fbcae6cc4b468cdbb63d5c25edec958e7d1"
    + "50f0d846f9e03afee838",
  grey: "1a1a1af2f2f2",
};

const LINES = ["#0072b2", "#d55e00", "#009e73", "#7b3294", "#595959", "#b8860b", "#56b4e9", "#000"];
const DASHES = [[], [8, 4], [2, 3], [10, 3, 2, 3], [5, 2], [1, 2], [14, 4], [4, 4]];
const STATUS = {
  separated: { shape: "circle", fill: "#ffffff", line: "#595959", band: "#f1f1f1" },
  sliding: { shape: "triangle", fill: "#d55e00", line: "#8a3c00", band: "#e69f5e" },
  sticking: { shape: "square", fill: "#0072b2", line: "#00456b", band: "#00456b" },
};

// 256 colours (RGBA bytes), in bands where asked for
function colourTable(name, bands) {
  const hex = MAPS[name];
  const samples = hex.length / 6 - 1;
  const channel = (i, k) => parseInt(hex.slice(6 * i + 2 * k, 6 * i + 2 * k + 2), 16);
  const table = new Uint8Array(4 * 256);
  for (let i = 0; i < 256; i++) {
    let x = i / 255;
    if (bands) x = Math.min(bands - 1, Math.floor(x * bands)) / (bands - 1);
    const low = Math.min(samples - 1, Math.floor(x * samples));
    const part = x * samples - low;
    for (let k = 0; k < 3; k++)
      table[4 * i + k] = Math.round((1 - part) * channel(low, k) + part * channel(low + 1, k));
    table[4 * i + 3] = 255;
  }
  return table;
}

function drawMark(context, shape, x, y, r) {
  context.beginPath();
  if (shape === "circle") context.arc(x, y, r, 0, 2 * Math.PI);
  else if (shape === "square") context.rect(x - 0.9 * r, y - 0.9 * r, 1.8 * r, 1.8 * r);
  else {
    context.moveTo(x, y - 1.1 * r);
    context.lineTo(x + r, y + 0.8 * r);
    context.lineTo(x - r, y + 0.8 * r);
    context.closePath();
  }
  context.fill();
  context.stroke();
}
