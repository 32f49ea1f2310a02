"""An exploration of an image, without a page."""

import json

import numpy as np
import pytest

from evidentia.app.explorer.folder import STEPS
from evidentia.app.explorer.segments import ImageExploration, ImageSettings
from evidentia.app.images.strokes import Stroke


def picture(seed=0, n=24):
    """Left dark, right bright, and a strip of in-between values in the middle."""
    rng = np.random.default_rng(seed)
    level = np.repeat([0.0, 0.5, 1.0], [10, 4, 10])
    return np.round(level + rng.normal(0, 0.04, (n, 24)), 2)


LEFT, RIGHT = Stroke(0, ((3.0, 3.0), (3.0, 20.0))), Stroke(1, ((20.0, 3.0), (20.0, 20.0)))
MIDDLE = Stroke(1, ((12.0, 2.0), (12.0, 22.0)), radius=1.0)


def begun(**more):
    exploration = ImageExploration(picture(), ImageSettings(clusters=2), **more)
    exploration.begin()
    return exploration


def test_strokes_decide_where_a_strip_belongs():
    exploration = begun()
    middle = np.s_[:, 10:14]
    exploration.draw([LEFT, RIGHT, MIDDLE])
    labels = exploration.segmentation_.labels()
    assert (labels[middle] == 1).mean() > 0.95
    exploration.undo()
    exploration.draw([LEFT, RIGHT, MIDDLE._replace(pen=0)])
    assert (exploration.segmentation_.labels()[middle] == 0).mean() > 0.95
    assert exploration.step.settings.method == "cecm"
    assert [step.words for step in exploration.steps] == [
        "egmm, 2 clusters",
        "3 strokes: one segment, another segment",
    ]


def test_what_fails_changes_nothing(tmp_path):
    exploration = begun(folder=tmp_path)
    before = (tmp_path / STEPS).read_bytes()
    with pytest.raises(ValueError, match=r"^Draw a line over the image first\.$"):
        exploration.draw([Stroke(0, ((-9.0, 3.0),))])
    with pytest.raises(ValueError, match="Nothing was changed"):
        exploration.set(clusters=2)
    with pytest.raises(ValueError, match=r"^There is nothing to undo\.$"):
        exploration.undo()
    with pytest.raises(ValueError, match=r"pixels"):
        exploration.draw([LEFT, LEFT._replace(pen=1)])  # both pens over the same pixels
    assert len(exploration.steps) == 1
    assert (tmp_path / STEPS).read_bytes() == before


def test_a_question_is_about_a_doubtful_region_and_a_sure_one_it_may_belong_to():
    exploration = begun()
    question = exploration.ask()
    sets = exploration.segmentation_.sets()
    assert set(np.unique(sets[question.first])) == {0b11}
    assert len(np.unique(sets[question.second])) == 1
    assert np.unique(sets[question.second])[0] in (0b1, 0b10)
    columns = np.nonzero(question.first)[1]
    assert columns.min() >= 9
    assert columns.max() <= 14
    assert question.words.startswith(
        f"Are the two regions, of {question.first.sum()} and {question.second.sum()} pixels"
    )


@pytest.mark.parametrize(("word", "said"), [("same", "yes"), ("different", "no")])
def test_an_answer_moves_the_region(word, said):
    exploration = begun()
    question = exploration.ask()
    step = exploration.answer(word, question)
    assert step.words == f"{question.words} {said}"
    labels = exploration.segmentation_.labels()
    other = np.median(labels[question.second])
    agrees = (labels[question.first] == other).mean()
    assert agrees > 0.9 if word == "same" else agrees < 0.1


def test_who_does_not_know_is_not_asked_again():
    exploration = begun()
    first = exploration.ask()
    before = exploration.segmentation_
    exploration.answer("don't know", first)
    assert exploration.segmentation_ is before
    second = exploration.ask()
    assert second is None or (second.first != first.first).any() or (second.second != first.second).any()
    with pytest.raises(ValueError, match="segmented anew since this was asked"):
        exploration.answer("same", first)
    with pytest.raises(ValueError, match='An answer is "same", "different" or'):
        exploration.answer("maybe", exploration.ask() or first._replace(of=exploration.step))


def test_steps_are_taken_up_again(tmp_path):
    exploration = begun(folder=tmp_path)
    exploration.draw([LEFT, RIGHT])
    exploration.answer("don't know", exploration.ask() or pytest.fail("no question"))
    exploration.undo()
    again = ImageExploration(picture(), folder=tmp_path)
    assert again.at == 1
    assert again.step.strokes == (LEFT, RIGHT)
    np.testing.assert_array_equal(again.segmentation_.labels(), exploration.segmentation_.labels())
    np.testing.assert_array_equal(again.redo().answers[0].first, exploration.steps[2].answers[0].first)
    with pytest.raises(ValueError, match="Another explorer has taken up"):
        exploration.redo()
    with pytest.raises(ValueError, match=r"holds the exploration of another image: 24 × 24, fingerprint \w{16}, while"):
        ImageExploration(picture(seed=1), folder=tmp_path)
    (tmp_path / STEPS).write_text(json.dumps({"format": "other", "steps": []}))
    with pytest.raises(ValueError, match="is damaged or was not written by evidentia explore"):
        ImageExploration(picture(), folder=tmp_path)


def test_a_volume_is_drawn_on_plane_by_plane():
    volume = np.stack([picture(seed) for seed in range(3)])
    exploration = ImageExploration([volume], ImageSettings(clusters=2))
    exploration.begin()
    assert exploration.n_planes == 3
    exploration.draw([LEFT, RIGHT, MIDDLE._replace(plane=2)])
    assert (exploration.segmentation_.labels()[:, :, 10:14] == 1).mean() > 0.9
    np.testing.assert_array_equal(exploration.plane(volume, 2), volume[2])
