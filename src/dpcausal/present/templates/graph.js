(() => {
  "use strict";
  const svg = document.getElementById("graph");
  if (!svg) return;
  const said = document.getElementById("said");
  const home = svg.getAttribute("viewBox").split(" ").map(Number);
  let box = [...home], held = null;
  const show = () => svg.setAttribute("viewBox", box.join(" "));
  const place = e => {
    const at = new DOMPoint(e.clientX, e.clientY).matrixTransform(svg.getScreenCTM().inverse());
    return [at.x, at.y];
  };
  const zoom = (k, x, y) => {
    box = [x - (x - box[0]) * k, y - (y - box[1]) * k, box[2] * k, box[3] * k];
    show();
  };

  // a line is curve, straight piece, curve, ...: the same rule as routes.py
  const path = p => p.slice(1).reduce((d, [x, y], i) => {
    const [ax, ay] = p[i], half = (ay + y) / 2;
    return d + (i % 2 ? `L${x} ${y}` : `C${ax} ${half} ${x} ${half} ${x} ${y}`);
  }, `M${p[0][0]} ${p[0][1]}`);
  const edges = [...svg.querySelectorAll(".edge")].map(g => {
    const n = g.dataset.points.split(" ").map(Number), points = [];
    for (let i = 0; i < n.length; i += 2) points.push([n[i], n[i + 1]]);
    return { g, points, start: points.map(q => [...q]) };
  });
  const shift = new Map();
  const redraw = name => {
    const [dx, dy] = shift.get(name) || [0, 0];
    for (const { g, points, start } of edges) {
      const last = points.length - 1;
      if (g.dataset.upper === name) points[0] = [start[0][0] + dx, start[0][1] + dy];
      if (g.dataset.lower === name) points[last] = [start[last][0] + dx, start[last][1] + dy];
      if (g.dataset.upper === name || g.dataset.lower === name)
        g.querySelectorAll("path").forEach(one => one.setAttribute("d", path(points)));
    }
  };
  const move = (node, dx, dy) => {
    shift.set(node.dataset.name, [dx, dy]);
    node.setAttribute("transform", `translate(${dx} ${dy})`);
    redraw(node.dataset.name);
  };

  svg.addEventListener("wheel", e => {
    if (!(e.ctrlKey || e.metaKey || document.activeElement && svg.contains(document.activeElement))) return;
    e.preventDefault();
    zoom(e.deltaY > 0 ? 1.12 : 1 / 1.12, ...place(e));
  }, { passive: false });
  svg.addEventListener("pointerdown", e => {
    const node = e.target.closest(".node");
    held = { node, from: place(e), box: [...box], was: node ? shift.get(node.dataset.name) || [0, 0] : null };
    svg.setPointerCapture(e.pointerId);
  });
  svg.addEventListener("pointermove", e => {
    if (!held) return;
    const [x, y] = place(e), dx = x - held.from[0], dy = y - held.from[1];
    if (held.node) move(held.node, held.was[0] + dx, held.was[1] + dy);
    else { box[0] -= dx; box[1] -= dy; show(); }
  });
  for (const end of ["pointerup", "pointercancel"]) svg.addEventListener(end, () => { held = null; });

  const middle = () => [box[0] + box[2] / 2, box[1] + box[3] / 2];
  const button = (id, act) => document.getElementById(id).addEventListener("click", act);
  button("nearer", () => zoom(1 / 1.25, ...middle()));
  button("farther", () => zoom(1.25, ...middle()));
  button("reset", () => {
    box = [...home];
    show();
    svg.querySelectorAll(".node").forEach(node => move(node, 0, 0));
  });

  // pointing at an edge says it in words and marks its row in the table, and the other way round
  const pair = (a, b) => JSON.stringify([a, b].sort());
  const rows = new Map([...document.querySelectorAll("#edges tr[data-from]")].map(r => [pair(r.dataset.from, r.dataset.to), r]));
  const light = (one, two, on) => [one, two].forEach(x => x && x.classList.toggle("lit", on));
  for (const { g } of edges) {
    const row = rows.get(pair(g.dataset.upper, g.dataset.lower));
    const tell = on => { said.textContent = on ? g.getAttribute("aria-label") : ""; light(g, row, on); };
    g.addEventListener("pointerenter", () => tell(true));
    g.addEventListener("pointerleave", () => tell(false));
    g.addEventListener("focus", () => tell(true));
    g.addEventListener("blur", () => tell(false));
    if (row) {
      row.addEventListener("pointerenter", () => tell(true));
      row.addEventListener("pointerleave", () => tell(false));
    }
  }
  svg.querySelectorAll(".node").forEach(node => {
    const tell = on => { said.textContent = on ? node.getAttribute("aria-label") : ""; };
    node.addEventListener("pointerenter", () => tell(true));
    node.addEventListener("pointerleave", () => tell(false));
    node.addEventListener("focus", () => tell(true));
    node.addEventListener("blur", () => tell(false));
  });
  const tick = document.getElementById("show-open");
  const shows = () => {
    svg.classList.toggle("show-open", tick.checked);
    document.querySelectorAll(".of-open").forEach(key => { key.hidden = !tick.checked; });
  };
  if (tick) { tick.addEventListener("change", shows); shows(); }
  const drawn = svg.parentElement, swipe = document.getElementById("swipe");
  const hint = () => { swipe.hidden = drawn.scrollWidth <= drawn.clientWidth + 1; };
  window.addEventListener("resize", hint);
  hint();
  // files: the drawing with its legend as it is sent to others, with boxes where the reader moved them
  const files = JSON.parse(document.getElementById("files").textContent);
  const figure = () => {
    const text = tick && tick.checked && files.open || files.plain;
    const made = new DOMParser().parseFromString(text, "image/svg+xml");
    made.querySelectorAll(".node").forEach(node => {
      const [dx, dy] = shift.get(node.dataset.name) || [0, 0];
      if (dx || dy) node.setAttribute("transform", `translate(${dx} ${dy})`);
    });
    const line = g => g.dataset.upper + "\n" + g.dataset.lower;
    const now = new Map(edges.map(({ g }) => [line(g), g.querySelector(".line").getAttribute("d")]));
    made.querySelectorAll(".edge[data-upper]").forEach(g => g.querySelectorAll("path").forEach(
      one => one.setAttribute("d", now.get(line(g)) || one.getAttribute("d"))));
    return made.documentElement;
  };
  const svgText = () => new XMLSerializer().serializeToString(figure());
  const save = (url, name) => {
    const link = Object.assign(document.createElement("a"), { href: url, download: name });
    document.body.append(link);
    link.click();
    link.remove();
  };
  const svgUrl = () => "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svgText());
  const pngUrl = () => new Promise((done, failed) => {
    const root = figure(), image = new Image(), scale = 3;
    image.onload = () => {
      const canvas = document.createElement("canvas");
      canvas.width = scale * root.getAttribute("width");
      canvas.height = scale * root.getAttribute("height");
      canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
      done(canvas.toDataURL("image/png"));
    };
    image.onerror = failed;
    image.src = svgUrl();
  });
  button("save-svg", () => save(svgUrl(), "graph.svg"));
  button("save-png", () => pngUrl().then(url => save(url, "graph.png")));
  for (const [id, name] of [["save-privacy", "privacy.json"], ["save-graph", "graph.json"]])
    button(id, () => save("data:application/json;charset=utf-8," + encodeURIComponent(files[name]), name));
  window.dpcausalFigure = { svgText, pngUrl };  // for whoever embeds the page, and its tests

  const copy = document.getElementById("copy-methods"), methods = document.getElementById("methods");
  copy.addEventListener("click", () => {
    const range = document.createRange(), chosen = getSelection();
    range.selectNodeContents(methods);
    chosen.removeAllRanges();
    chosen.addRange(range);
    document.execCommand("copy");  // works on a page from a file, where navigator.clipboard may not
    copy.textContent = "Copied";
    setTimeout(() => { copy.textContent = "Copy"; }, 2000);
  });

  window.addEventListener("beforeprint", () => {
    for (const id of ["all-edges", "paper", "budget", "full-statement"]) {
      const part = document.getElementById(id);
      if (part) part.open = true;
    }
  });
  document.documentElement.dataset.ready = String(edges.filter(({ g }) => !g.classList.contains("open")).length);
})();
