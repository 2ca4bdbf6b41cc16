"""Long computations: threads, callbacks, progress bars and Ctrl-C."""

import os
import signal
import subprocess
import sys
import threading
import time

import lobcod
import numpy as np
import pytest

ENDLESS = {"penalty": 0.05, "tolerance": 0.0, "max_sweeps": 10**6}


def test_callbacks_see_the_work_and_stop_it(grey: lobcod.Array) -> None:
    seen: list[lobcod.Progress] = []

    def watch(now: lobcod.Progress) -> bool:
        seen.append(now)
        return len(seen) < 4

    codes = lobcod.encode(grey, progress=watch, **ENDLESS)  # type: ignore[call-overload]
    assert codes.report.status == "interrupted" and len(seen) == 4 and len(codes) > 0
    assert seen[0].seconds <= seen[-1].seconds and seen[-1].tolerance == 0
    passes: list[int | None] = []
    lobcod.learn([grey], 4, (5, 5), 20, passes=3, progress=lambda now: passes.append(now.pass_number))
    assert {1, 2, 3} <= set(passes)


def test_an_exception_of_a_callback_ends_the_call(grey: lobcod.Array) -> None:
    def fail(now: lobcod.Progress) -> None:
        raise RuntimeError("enough")

    for work in (
        lambda: lobcod.encode(grey, progress=fail, **ENDLESS),  # type: ignore[call-overload]
        lambda: lobcod.learn([grey], 4, (5, 5), 20, progress=fail),
        lambda: lobcod.inpaint(np.where(grey > 100, np.nan, grey), progress=fail),
        lambda: lobcod.fuse([grey, grey], progress=fail),
        lambda: lobcod.denoise(grey, sigma=20, method="convolutional", progress=fail),
        lambda: lobcod.separate(grey, penalty=1, progress=fail),
        lambda: lobcod.Stream(4, (5, 5), 20).partial_fit(grey, progress=fail),
    ):
        with pytest.raises(RuntimeError, match="enough"):
            work()


def test_bars(grey: lobcod.Array, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    lobcod.encode(grey, penalty=20, progress=True)
    assert "non-zeros" in capsys.readouterr().err
    for module in ("tqdm", "tqdm.auto"):
        monkeypatch.setitem(sys.modules, module, None)
    lobcod.learn([grey], 4, (5, 5), 20, passes=2, progress=True)
    assert "100 %" in capsys.readouterr().err


def test_other_threads_run_meanwhile(grey: lobcod.Array) -> None:
    # Single steps of another thread while one call of the solver runs: none if the interpreter were held.
    steps, done = 0, threading.Event()

    def count() -> None:
        nonlocal steps
        while not done.is_set():
            steps += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    try:
        before = steps
        with pytest.warns(lobcod.ConvergenceWarning):
            lobcod.encode(np.tile(grey, (4, 4)), time_limit=0.5, threads=1, **ENDLESS)  # type: ignore[call-overload]
        assert steps - before > 20
    finally:
        done.set()
        other.join()


def test_calls_from_several_threads_give_the_same_answers(grey: lobcod.Array) -> None:
    alone = lobcod.encode(grey, penalty=20).value
    found: list[lobcod.Array] = []
    threads = [threading.Thread(target=lambda: found.append(lobcod.encode(grey, penalty=20).value)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and all(np.array_equal(one, alone) for one in found)


@pytest.mark.parametrize("work", ["encode(large, penalty=0.02, tolerance=0.0)", "learn([large], penalty=1.0, passes=9999)"])
@pytest.mark.skipif(sys.platform == "win32", reason="signals are sent another way")
def test_ctrl_c_ends_the_call(work: str) -> None:
    program = f"""
import time, lobcod, numpy as np
large = np.tile(lobcod.still_life(128).mean(axis=-1), (8, 8))
print("ready", flush=True)
try:
    lobcod.{work}
except KeyboardInterrupt:
    print(time.time(), flush=True)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    time.sleep(1.0)
    sent = time.time()
    os.kill(child.pid, signal.SIGINT)
    answered = child.communicate(timeout=120)[0]
    # The promise is a second on a machine of its own; a loaded one may take longer to hand the word on.
    print(f"obeyed after {float(answered) - sent:.2f} s")
    assert float(answered) >= sent
