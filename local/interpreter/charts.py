# SPDX-License-Identifier: MIT
"""Charts of the code interpreter: what a matplotlib figure shows, as data.

Part of the Python driver (python.py), which calls chart_of_figure(). Nothing is imported before a
figure exists.
"""

import re

MAX_POINTS = 100_000  # of all elements of a chart


def plain_number(value):
    """A number, date or text as JSON has it."""
    if hasattr(value, "item"):
        value = value.item()
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if isinstance(value, float) and value != value:
        return None
    return value if isinstance(value, (int, float, str)) or value is None else str(value)


def unit_of(label):
    found = re.search(r"\s\((.*?)\)|\[(.*?)\]", label or "")
    return (found.group(1) or found.group(2)) if found else None


def is_grid_line(child):
    from matplotlib.lines import Line2D

    if not isinstance(child, Line2D):
        return False
    x, y = child.get_data()
    return len(x) == 2 and len(y) == 2 and (x[0] == x[1] or y[0] == y[1])


def marks_of(ax):
    """What was drawn on the axes, without its own decoration."""
    from matplotlib.text import Text

    own = {ax.patch, ax.xaxis, ax.yaxis, *ax.spines.values(), ax.get_legend()}
    return [c for c in ax._children if c not in own and not isinstance(c, Text)]


def type_of_axes(ax):
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D
    from matplotlib.patches import PathPatch, Rectangle, Wedge

    marks = marks_of(ax)
    if all(isinstance(m, Line2D) for m in marks):
        return "line"
    if all(isinstance(m, (PathPatch, Line2D)) for m in marks):
        return "box_and_whisker"
    marks = [m for m in marks if not is_grid_line(m)]
    for kind, name in ((PathCollection, "scatter"), (Wedge, "pie"), (Rectangle, "bar")):
        if all(isinstance(m, kind) for m in marks):
            return name
    return "unknown"


# ---- axes with two dimensions ----


def is_date_axis(axis):
    from matplotlib.dates import AutoDateLocator, DateConverter, DateLocator

    names = {type(axis.converter).__name__} if axis.converter is not None else set()
    return (isinstance(axis.converter, DateConverter)
            or names & {"_SwitchableDateConverter", "DatetimeConverter"}
            or isinstance(axis.get_major_locator(), (AutoDateLocator, DateLocator)))


def date_text(value):
    from matplotlib.dates import num2date

    return num2date(value).replace(tzinfo=None).isoformat()


def axis_value(axis, value):
    """A coordinate: dates as text, all else as it is."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if type(value).__name__ == "datetime64":
        from matplotlib.dates import date2num

        return date_text(date2num(value))
    if is_date_axis(axis) and isinstance(plain_number(value), (int, float)):
        return date_text(value)
    return plain_number(value)


def scale_of(axis, ticks, labels):
    if is_date_axis(axis):
        return "datetime"
    if axis.get_scale() != "linear":
        return axis.get_scale()
    numbers = [str(i) for i in range(len(ticks))]
    is_counting = [plain_number(t) for t in ticks] == list(range(len(ticks)))
    return "categorical" if is_counting and labels and labels != numbers else "linear"


def put_labels(chart, ax):
    for name in ("x", "y"):
        label = getattr(ax, "get_%slabel" % name)() or None
        chart[name + "_label"] = label
        chart[name + "_unit"] = unit_of(label)


def put_ticks(chart, ax):
    for name, axis in (("x", ax.xaxis), ("y", ax.yaxis)):
        ticks = list(axis.get_ticklocs())
        labels = [t.get_text() for t in axis.get_ticklabels()]
        chart[name + "_ticks"] = [axis_value(axis, t) for t in ticks]
        chart[name + "_tick_labels"] = labels
        chart[name + "_scale"] = scale_of(axis, ticks, labels)


def line_elements(ax):
    elements, left = [], MAX_POINTS
    for line in ax.get_lines():
        label = line.get_label()
        if label.startswith("_child"):
            label = "Line %s" % label[len("_child"):]
        points = [[axis_value(ax.xaxis, x), axis_value(ax.yaxis, y)]
                  for x, y in list(zip(line.get_xdata(), line.get_ydata()))[:left]]
        left -= len(points)
        elements.append({"label": label, "points": points})
    return elements


def scatter_elements(ax):
    elements, left = [], MAX_POINTS
    for group in ax.collections:
        label = group.get_label()
        if label.startswith("_child"):
            label = "Scatter %s" % label[len("_child"):]
        points = [[axis_value(ax.xaxis, x), axis_value(ax.yaxis, y)]
                  for x, y in list(group.get_offsets())[:left]]
        left -= len(points)
        elements.append({"label": label, "points": points})
    return elements


# ---- the others ----


def is_horizontal(bars):
    heights = {round(float(b.get_height()), 9) for b in bars}
    widths = {round(float(b.get_width()), 9) for b in bars}
    return len(heights) == 1 and (len(widths) > 1 or bars[0].get_x() == 0)


def bar_elements(ax, chart):
    from matplotlib.container import BarContainer

    groups = [c for c in ax.containers if isinstance(c, BarContainer)]
    bars = [b for group in groups for b in group]
    if not bars:
        return []
    is_flat = is_horizontal(bars)
    axis = ax.yaxis if is_flat else ax.xaxis
    if is_flat:
        for what in ("_label", "_unit"):
            chart["x" + what], chart["y" + what] = chart["y" + what], chart["x" + what]
    texts = [t.get_text() for t in axis.get_ticklabels()]
    spots = [float(t) for t in axis.get_ticklocs()]
    by_place = {round(spot, 6): text for spot, text in zip(spots, texts)}
    elements = []
    for group in groups:
        name = group.get_label()
        if name.startswith("_container"):
            name = "Group %s" % name[len("_container"):]
        for i, bar in enumerate(group):
            middle = (bar.get_y() + bar.get_height() / 2 if is_flat
                      else bar.get_x() + bar.get_width() / 2)
            label = by_place.get(round(float(middle), 6))
            if label is None:
                label = texts[i] if i < len(texts) else str(i)
            value = bar.get_width() if is_flat else bar.get_height()
            elements.append({"label": label, "group": name, "value": plain_number(value)})
    return elements[:MAX_POINTS]


def pie_elements(ax):
    from matplotlib.patches import Wedge

    return [{"label": w.get_label(), "angle": round(abs(float(w.theta2) - float(w.theta1)), 8),
             "radius": plain_number(w.r)}
            for w in ax.patches if isinstance(w, Wedge)]


class Box:
    """One box with its whiskers and outliers, from what was drawn."""

    def __init__(self, places, values):
        self.low, self.high = min(places), max(places)
        self.first, self.third = min(values), max(values)
        self.median = self.bottom = self.top = None
        self.outliers = []

    def has(self, places):
        return all(self.low - 1e-9 <= p <= self.high + 1e-9 for p in places)

    def take(self, places, values, is_mark):
        """A line that lies on this box: outliers, a whisker, the median or a cap."""
        if is_mark:
            self.outliers += values
        elif len(set(places)) == 1:
            self.bottom = min(v for v in (self.bottom, *values) if v is not None)
            self.top = max(v for v in (self.top, *values) if v is not None)
        elif max(places) - min(places) > 0.9 * (self.high - self.low):
            self.median = values[0]

    def element(self, label):
        return {"label": label,
                "min": plain_number(self.first if self.bottom is None else self.bottom),
                "first_quartile": plain_number(self.first), "median": plain_number(self.median),
                "third_quartile": plain_number(self.third),
                "max": plain_number(self.third if self.top is None else self.top),
                "outliers": [plain_number(v) for v in self.outliers]}


def boxes_of(ax):
    from matplotlib.patches import PathPatch

    paths = [p.get_path().vertices for p in ax.patches if isinstance(p, PathPatch)]
    if paths:
        return [([float(x) for x, _ in v[:4]], [float(y) for _, y in v[:4]]) for v in paths]
    # boxplot() draws boxes as closed lines unless patch_artist is set.
    lines = [line.get_data() for line in ax.get_lines() if line.get_linestyle() != "None"]
    return [([float(v) for v in x], [float(v) for v in y]) for x, y in lines if len(x) == 5]


def is_lying(others):
    """Medians and caps lie across the boxes, and there are more of them than of whiskers."""
    pairs = [(x, y) for x, y, is_mark in others if not is_mark and len(x) == 2]
    upright = sum(x[0] == x[1] and y[0] != y[1] for x, y in pairs)
    across = sum(y[0] == y[1] and x[0] != x[1] for x, y in pairs)
    return upright > across


def box_elements(ax, chart):
    shapes = boxes_of(ax)
    labels = [t.get_text() for t in ax.get_xticklabels()]
    others = []
    for line in ax.get_lines():
        x, y = ([float(v) for v in values] for values in line.get_data())
        is_mark = line.get_linestyle() in ("None", "", " ")
        if x and (is_mark or len(x) != 5):
            others.append((x, y, is_mark))
    if is_lying(others):
        shapes = [(y, x) for x, y in shapes]
        others = [(y, x, is_mark) for x, y, is_mark in others]
        labels = [t.get_text() for t in ax.get_yticklabels()]
        for what in ("_label", "_unit"):
            chart["x" + what], chart["y" + what] = chart["y" + what], chart["x" + what]
    boxes = [Box(*shape) for shape in shapes]
    for places, values, is_mark in others:
        for box in boxes:
            if box.has(places):
                box.take(places, values, is_mark)
                break
    return [box.element(labels[i] if i < len(labels) else str(i)) for i, box in enumerate(boxes)]


# ---- figures ----


def has_boxes(ax):
    """boxplot() without patches is made of lines alone, five points for each box."""
    lines = [line.get_data() for line in ax.get_lines() if line.get_linestyle() != "None"]
    shapes = [(list(x), list(y)) for x, y in lines if len(x) == 5]
    return bool(shapes) and len(lines) >= 5 * len(shapes) and all(
        x[0] == x[4] and y[0] == y[4] and len(set(x)) == 2 and len(set(y)) == 2
        for x, y in shapes)


def chart_of_axes(ax):
    kind = type_of_axes(ax)
    if kind == "line" and has_boxes(ax):
        kind = "box_and_whisker"
    chart = {"type": kind, "title": ax.get_title() or None, "elements": []}
    if kind in ("unknown", "pie"):
        chart["elements"] = pie_elements(ax) if kind == "pie" else []
        return chart
    put_labels(chart, ax)
    if kind in ("line", "scatter"):
        put_ticks(chart, ax)
        chart["elements"] = line_elements(ax) if kind == "line" else scatter_elements(ax)
    elif kind == "bar":
        chart["elements"] = bar_elements(ax, chart)
    else:
        chart["elements"] = box_elements(ax, chart)
    return chart


def chart_of_figure(figure):
    axes = [ax for ax in figure.axes if marks_of(ax)]
    if not axes:
        return {}
    charts = [chart_of_axes(ax) for ax in axes]
    if len(charts) == 1:
        return charts[0]
    title = figure._suptitle.get_text() if figure._suptitle else None
    return {"type": "superchart", "title": title or None, "elements": charts}
