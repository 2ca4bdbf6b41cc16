"""The peer on the same GPU: convolutional sparse coding by ADMM in the Fourier domain, in PyTorch.

Solves 1/2 ||Y - sum_k d_k * x_k||^2 + penalty sum_k ||x_k||_1 on the image padded by zeros (what the zero border of
lobcod solves), float32: x-step by the Sherman-Morrison formula at every frequency, over-relaxed (1.8), the best of several rho.
Reads what `LOBCOD_EXPORT=FOLDER` makes the bench `device` write; prints the time until the objective is within 0.1 % and
0.01 % of the least, by events, median of three runs, and the card's ceilings.

    python3 peer_admm.py FOLDER SIDE OPTIMUM [SIDE OPTIMUM ...]
"""
import sys

import numpy as np
import torch

PENALTY = 20.0
torch.backends.cuda.matmul.allow_tf32 = False


def objective(data, x, spectrum_of_atoms, shape):
    fit = torch.fft.irfft2((spectrum_of_atoms * torch.fft.rfft2(x)).sum(0), s=shape)
    return 0.5 * (fit - data).square().sum(dtype=torch.float64) + PENALTY * x.abs().sum(dtype=torch.float64)


def solve(data, atoms, rho, optimum, most, check):
    shape = data.shape
    padded = torch.zeros((len(atoms), *shape), device=data.device)
    padded[:, : atoms.shape[1], : atoms.shape[2]] = atoms
    d = torch.fft.rfft2(padded)
    del padded
    start, marks = torch.cuda.Event(enable_timing=True), {}
    torch.cuda.synchronize()
    start.record()
    correlation = d.conj() * torch.fft.rfft2(data)
    weight = 1.0 / (rho + (d.real.square() + d.imag.square()).sum(0))
    z = torch.zeros((len(atoms), *shape), device=data.device)
    u = torch.zeros_like(z)
    for step in range(1, most + 1):
        right = correlation + rho * torch.fft.rfft2(z - u)
        x = torch.fft.irfft2((right - d.conj() * (weight * (d * right).sum(0))) / rho, s=shape)
        x = 1.8 * x + (1.0 - 1.8) * z
        z = torch.nn.functional.softshrink(x + u, PENALTY / rho)
        u = u + x - z
        if step % check == 0:
            value = objective(data, z, d, shape).item()
            for share in (1e-3, 1e-4):
                if share not in marks and value <= (1.0 + share) * optimum:
                    stop = torch.cuda.Event(enable_timing=True)
                    stop.record()
                    torch.cuda.synchronize()
                    marks[share] = start.elapsed_time(stop)
            if len(marks) == 2:
                break
    return marks, value, step


def ceilings():
    a = torch.randn(8192, 8192, device="cuda")
    b = torch.randn(8192, 8192, device="cuda")
    source = torch.randn(1 << 29, device="cuda")
    target = torch.empty_like(source)

    def timed(work, count):
        work()
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(count):
            work()
        end.record()
        torch.cuda.synchronize()
        return begin.elapsed_time(end) / count * 1e-3

    print(f"float32 product of matrices {2 * 8192**3 / timed(lambda: a @ b, 5) * 1e-12:.1f} TFLOP/s", end=", ")
    print(f"copy {2 * source.numel() * 4 / timed(lambda: target.copy_(source), 10) * 1e-12:.2f} TB/s")


def main():
    folder = sys.argv[1]
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    ceilings()
    atoms = torch.from_numpy(np.load(f"{folder}/dictionary.npy")).cuda()
    for side, optimum in zip(sys.argv[2::2], sys.argv[3::2], strict=True):
        image = np.load(f"{folder}/image_{side}.npy")
        data = torch.from_numpy(np.pad(image, 7)).cuda()
        best = None
        for rho in (0.5, 1.0, 2.0, 4.0) if int(side) <= 512 else (1.0, 2.0):
            torch.cuda.reset_peak_memory_stats()
            runs = []
            for _ in range(3 if int(side) <= 512 else 1):
                runs.append(solve(data, atoms, rho, float(optimum), 400, 5))
            runs.sort(key=lambda run: run[0].get(1e-3, 1e9))
            marks, value, steps = runs[len(runs) // 2]
            memory = torch.cuda.max_memory_allocated() / 1e9
            print(f"  {side}: rho {rho}, {steps} steps, objective {value:.6e}, {memory:.1f} GB, ms {marks}")
            if best is None or marks.get(1e-3, 1e9) < best[0].get(1e-3, 1e9):
                best = (marks, rho)
        print(f"{side}: best rho {best[1]}: ms {best[0]}")


if __name__ == "__main__":
    main()
