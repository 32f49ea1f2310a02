"""Mouse gestures over a Bokeh figure, in the coordinates of its data."""

PLACES = """([name, points]) => {
  const view = Bokeh.index.find_one(Bokeh.documents.map((one) => one.get_model_by_name(name)).find(Boolean))
  const frame = view.frame, box = view.canvas_view.el.getBoundingClientRect()
  return points.map(([x, y]) => [box.left + frame.x_scale.compute(x), box.top + frame.y_scale.compute(y)])
}"""


def places(page, name, points):
    """Where points of the figure of that name are on the screen."""
    return page.evaluate(PLACES, [name, [[float(x), float(y)] for x, y in points]])


def drag(page, name, points):
    """Press at the first point, move over the others, release at the last."""
    (x, y), *rest = places(page, name, points)
    page.mouse.move(x, y)
    page.mouse.down()
    for x, y in rest:
        page.mouse.move(x, y, steps=8)
    page.mouse.up()


def lasso(page, name, low, high):
    """Draw around the rectangle between two corners."""
    (a, b), (c, d) = low, high
    drag(page, name, [(a, b), (c, b), (c, d), (a, d), (a, b)])


def model(page, name, expression):
    """A value of the Bokeh model of that name, ``it`` in the expression."""
    found = "Bokeh.documents.map((one) => one.get_model_by_name(name)).find(Boolean)"
    return page.evaluate(f"(name) => {{ const it = {found}; return {expression} }}", name)


COUNTER = """() => Bokeh.documents.flatMap((one) => [...one._all_models.values()])
  .find((one) => one.css_classes?.includes?.("counter") && "value" in one)?.value"""


def after(page, gesture):
    """Do something, and wait until Python has said that it was dealt with."""
    before = page.evaluate(COUNTER)
    gesture()
    page.wait_for_function(f"(before) => ({COUNTER})() > before", arg=before, timeout=60_000)
