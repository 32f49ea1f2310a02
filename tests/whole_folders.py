"""What a folder shows at each step of a writer, as a process that is killed there would leave it."""

import os
import shutil
from unittest import mock

STEPS = ("mkdir", "rename", "replace", "rmdir", "unlink")  # of the system, that change what others see of a folder


def files_of(folder):
    """Names of all files in a folder but those in hidden folders."""
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return {name for name in found if not any(part.startswith(".") for part in name.split("/"))}


def watching(folder, place, action):
    """Copies of a folder before and after each step of an action that changes it, other than filling a hidden one."""
    place.mkdir()
    moments, busy, before = [], False, None

    def keep():
        nonlocal busy, before
        if busy or not folder.exists():
            return
        now = {(str(path), path.stat().st_ino) for path in folder.rglob("*") if path.parent.parent.suffix != ".filling"}
        if now != before:
            busy, before = True, now
            moments.append(place / str(len(moments)))
            shutil.copytree(folder, moments[-1], symlinks=True)
            busy = False

    def watched(step):
        def run(*arguments, **options):
            keep()
            return step(*arguments, **options)

        return run

    with mock.patch.multiple(os, **{name: watched(getattr(os, name)) for name in STEPS}):
        action()
    keep()
    return moments
