// The page that report/interactive.py writes. Names and cells are data of others: they become text, never HTML.
const {names, sets, top_sets, top_masses, every, columns, ramp, missing, rows} = about
const at = (id) => document.getElementById(id)
const {code, doubt} = source.data
const n = names.length, depth = top_sets.shape[1]
const on = sets.map(() => true)
const visible = new Array(n).fill(true)
const full = Array.from(source.data.size)
const rgba = (color) => parseInt(color.slice(1) + "ff", 16)
let order = {key: "doubt", down: true}

const element = (tag, attributes = {}, ...inside) => {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...inside)
  return made
}
const swatch = (mark, fill, edge) => {
  const shapes = {
    circle: "M7.5 2a5.5 5.5 0 1 1-.01 0z", diamond: "M7.5 .5l5.5 7-5.5 7-5.5-7z", triangle: "M7.5 1.5l6.5 11.500h-13z",
    square: "M2 2h11v11h-11z", cross: "M7.5 1v13M1 7.5h13", x: "M3 3l9 9M12 3l-9 9",
  }
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg")
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path")
  svg.setAttribute("class", "mark"); svg.setAttribute("viewBox", "0 0 15 15"); svg.setAttribute("aria-hidden", "true")
  path.setAttribute("d", shapes[mark]); path.setAttribute("fill", fill); path.setAttribute("stroke", mark == "cross" ? fill : edge)
  path.setAttribute("stroke-width", mark == "x" || mark == "cross" ? 2.2 : 1.2)
  svg.append(path)
  return svg
}
const cell = (column, i) => {
  const value = column.values[i]
  if (column.levels.length) return column.codes[i] < column.levels.length ? column.levels[column.codes[i]] : "–"
  return Number.isNaN(value) ? "–" : value.toFixed(column.digits).replace(/^-(0\.?0*)$/, "$1")
}
const shares = (i) => {
  const found = []
  for (let j = 0; j < depth; j++) {
    const mass = top_masses[i * depth + j] / 10000
    if (mass >= 0.005) found.push(`${every[top_sets[i * depth + j]].name} ${mass.toFixed(2)}`)
  }
  return found
}
window.evidentia_tell = (i) =>
  [names[i], `set ${sets[code[i]].name}, doubt ${(doubt[i] / 100).toFixed(2)}`, ...shares(i)].join("\n")

// -- what is shown, and what is selected ------------------------------------------------------------------------------
let shown = []
const selected = () => source.selected.indices.filter((i) => visible[i])
const refilter = () => {
  const least = Number(at("doubt").value)
  at("least").value = (least / 100).toFixed(2)
  shown = []
  for (let i = 0; i < n; i++) if (visible[i] = on[code[i]] && doubt[i] >= least) shown.push(i)
  source.data = {...source.data, size: full.map((size, i) => visible[i] ? size : 0)}
  retell()
}
const retell = () => {
  const some = selected()
  const told = some.length ? some : shown
  at("status").textContent = `${shown.length.toLocaleString("en")} of ${n.toLocaleString("en")} objects are shown, `
    + `${some.length.toLocaleString("en")} selected.`
  at("which").textContent = some.length ? `Selected: ${some.length.toLocaleString("en")}`
    : `Shown: ${shown.length.toLocaleString("en")} (none selected)`
  bars(told)
  table(told)
}
const bars = (told) => {
  const sums = new Float64Array(every.length)
  for (const i of told) for (let j = 0; j < depth; j++) sums[top_sets[i * depth + j]] += top_masses[i * depth + j] / 10000
  const means = [...sums].map((sum, k) => [sum / told.length, k]).filter(([mean]) => mean >= 0.0005)
  means.sort(([a, j], [b, k]) => b - a || j - k)
  const listed = means.slice(0, 8)
  const rest = 1 - listed.reduce((sum, [mean]) => sum + mean, 0)
  const drawn = (name, mean, fill, edge) => [
    element("dt", {}, name),
    element("dd", {"aria-hidden": "true"}, element("i", {style: `width:${100 * mean}%;background:${fill};border-color:${edge}`})),
    element("dd", {}, mean.toFixed(2)),
  ]
  const found = listed.flatMap(([mean, k]) => drawn(every[k].name, mean, every[k].fill, every[k].edge))
  if (told.length && rest >= 0.005) found.push(...drawn("other sets", rest, "#ffffff", "#55606b"))
  at("bars").replaceChildren(...found)
}
const keys = {
  name: (i) => names[i], set: (i) => code[i], doubt: (i) => doubt[i],
  ...Object.fromEntries(columns.map((column, j) => [`column ${j}`, (i) => column.levels.length ? column.codes[i] : column.values[i]])),
}
const compare = (a, b) => {
  const first = keys[order.key](a), second = keys[order.key](b)
  if (typeof first == "string") return (order.down ? -1 : 1) * first.localeCompare(second, "en", {numeric: true})
  if (Number.isNaN(first) || Number.isNaN(second)) return Number.isNaN(first) - Number.isNaN(second)
  return (order.down ? second - first : first - second) || a - b
}
const table = (told) => {
  const headings = [["name", "object", "left"], ["set", "set", "left"], ["doubt", "doubt", ""],
    ...columns.map((column, j) => [`column ${j}`, column.name, column.levels.length ? "left" : ""])]
  const heads = headings.map(([key, words, side]) => {
    const mine = order.key == key
    const button = element("button", {type: "button"}, words, mine ? (order.down ? " ↓" : " ↑") : "")
    button.onclick = () => {
      order = {key, down: mine ? !order.down : key != "name"}
      retell()
      at("list").querySelectorAll("thead button")[headings.findIndex((heading) => heading[0] == key)].focus()
    }
    return element("th", {scope: "col", class: side, ...(mine ? {"aria-sort": order.down ? "descending" : "ascending"} : {})}, button)
  })
  const some = [...told].sort(compare).slice(0, rows)
  const lines = some.map((i) => {
    const button = element("button", {type: "button", title: "Select this object alone"}, names[i])
    button.onclick = () => { source.selected.indices = [i] }
    return element("tr", {}, element("th", {scope: "row"}, button), element("td", {class: "left"}, sets[code[i]].name),
      element("td", {}, (doubt[i] / 100).toFixed(2)),
      ...columns.map((column) => element("td", {class: column.levels.length ? "left" : ""}, cell(column, i))))
  })
  const list = at("list").querySelector("table")
  list.tHead.replaceChildren(element("tr", {}, ...heads))
  list.tBodies[0].replaceChildren(...lines)
  at("cut").textContent = (told.length > some.length ? `The first ${some.length} of ${told.length.toLocaleString("en")} are listed. ` : "") + about.left_out
}

// -- controls ---------------------------------------------------------------------------------------------------------
const boxes = sets.map((set, k) => {
  const box = element("input", {type: "checkbox"})
  box.checked = true
  box.onchange = () => { on[k] = box.checked; refilter() }
  at("sets").append(element("label", {}, box, swatch(set.mark, set.fill, set.edge), element("span", {class: "words"}, set.name),
    element("b", {}, set.count.toLocaleString("en"))))
  return box
})
const tick = (all) => { boxes.forEach((box, k) => { box.checked = on[k] = all }); refilter() }
at("all").onclick = () => tick(true)
at("none").onclick = () => tick(false)
let waiting = null
at("doubt").oninput = () => { waiting ??= requestAnimationFrame(() => { waiting = null; refilter() }) }
at("search").oninput = () => {
  const letters = at("search").value.trim().toLowerCase()
  const found = letters ? [...names.keys()].filter((i) => names[i].toLowerCase().includes(letters)) : []
  at("found").textContent = letters ? `${found.length.toLocaleString("en")} ${found.length == 1 ? "name has" : "names have"} these letters.`
    : "Selects every object whose name has these letters."
  source.selected.indices = found
}
at("select").onclick = () => { source.selected.indices = [...shown] }
at("clear").onclick = () => { source.selected.indices = [] }
at("hulls").onchange = () => { hulls.visible = at("hulls").checked }
at("color").append(element("option", {value: -1}, "set"), ...columns.map((column, j) => element("option", {value: j}, column.name)))
at("color").onchange = () => {
  const column = columns[at("color").value]
  const palette = (column ? [...(column.levels.length ? column.palette : ramp), missing] : sets.map((set) => set.fill)).map(rgba)
  source.data = {...source.data, color: Array.from(column ? column.codes : code, (k) => palette[k])}
  shades(column)
}
const shades = (column) => {
  const gray = element("span", {}, swatch("square", missing, "#55606b"), "missing")
  if (!column) return at("shades").replaceChildren()
  if (column.levels.length)
    return at("shades").replaceChildren(...column.levels.map((level, k) =>
      element("span", {}, swatch("square", column.palette[k], "#55606b"), element("i", {class: "words", style: "font-style:normal"}, level))), ...(column.gaps ? [gray] : []))
  const bar = element("div", {id: "ramp", style: `background:linear-gradient(90deg,${ramp.filter((_, k) => k % 16 == 0).join()})`})
  const ends = element("div", {class: "small ends"}, element("i", {style: "font-style:normal"}, column.low.toFixed(column.digits)), element("i", {style: "font-style:normal"}, column.high.toFixed(column.digits)))
  at("shades").replaceChildren(bar, ends, ...(column.gaps ? [gray] : []))
}

source.selected.change.connect(retell)
refilter()
document.body.dataset.ready = "yes"
