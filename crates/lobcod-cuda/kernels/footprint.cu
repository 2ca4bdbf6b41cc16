// The samples a tile touches, copied to where it works. Borders are dealt with here and nowhere
// else: outside the domain the residual and the weights are zero, a periodic axis is read around
// the corner.

#if SHARED && __CUDA_ARCH__ >= 800
// Asynchronous; 0 where the source is outside.
__device__ __forceinline__ void copy_sample(float* to, const float* from, bool inside) {
    u32 at = (u32)__cvta_generic_to_shared(to);
    int bytes = inside ? 4 : 0;
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(at), "l"(from), "r"(bytes)
                 : "memory");
}
__device__ __forceinline__ void copies_done() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
__device__ __forceinline__ void copy_sample(float* to, const float* from, bool inside) {
    *to = inside ? *from : 0.0f;
}
__device__ __forceinline__ void copies_done() {}
#endif

// Calls f(place in the footprint, number of the sample or -1) for the samples of a tile's
// footprint, shared by `threads` threads. Runs over the largest footprint, whose strides the
// compiler knows: divisions by other numbers would cost more than all the rest.
template <typename F>
__device__ __forceinline__ void each_sample(
    const KernelArgs& w, const Plane& plane, const Tile& tile, int thread, int threads, F f) {
    const int fz = tile.size[0] + HZ - 1, fy = tile.size[1] + HY - 1, fx = tile.size[2] + HX - 1;
    const int oz = tile.origin[0], oy = tile.origin[1], ox = tile.origin[2];
    const Domain domain(w, plane);
#pragma unroll 4
    for (u32 i = thread; i < (u32)FIELD; i += threads) {
        const int x = i % ROW, y = i % SLICE / ROW, z = i % CHANNEL / SLICE, c = i / CHANNEL;
        if (x < fx && y < fy && z < fz) f(i, domain.at(c, oz + z, oy + y, ox + x));
    }
}

__device__ __forceinline__ bool is_weighted(const Plane& plane, const Tile& tile) {
    return CLIPPED && (plane.weighted || tile.clipped);
}

// Fills the footprint; `weights` too where some are not 1. The caller waits for all threads.
__device__ __forceinline__ void load_footprint(
    const KernelArgs& w, const Plane& plane, const Tile& tile, float* residual, float* weights,
    int thread, int threads) {
    each_sample(w, plane, tile, thread, threads, [&](int to, i64 from) {
        copy_sample(residual + to, w.residual + (from < 0 ? 0 : from), from >= 0);
    });
    if (is_weighted(plane, tile)) {
        each_sample(w, plane, tile, thread, threads, [&](int to, i64 from) {
            if (plane.weighted)
                copy_sample(weights + to, w.weights + (from < 0 ? 0 : from), from >= 0);
            else
                weights[to] = from >= 0 ? 1.0f : 0.0f;
        });
    }
    copies_done();
}

__device__ __forceinline__ void store_footprint(
    const KernelArgs& w, const Plane& plane, const Tile& tile, const float* residual, int thread,
    int threads) {
    each_sample(w, plane, tile, thread, threads, [&](int at, i64 to) {
        if (to >= 0) w.residual[to] = residual[at];
    });
}

// The other place of a sample on an axis that wraps, or -1.
__device__ __forceinline__ int twin(int at, int wraps, int length, int size) {
    return !wraps ? -1 : at >= length ? at - length : at + length < size ? at + length : -1;
}

// On an axis that wraps, sample i and sample i + length of the footprint are one: the patch at
// `offset`, just updated, is copied to its other places.
__device__ __noinline__ void repeat_wrapped(
    const Plane& plane, const Tile& tile, int offset, float* buffer, int thread, int threads) {
    for (int p = thread; p < N; p += threads) {
        const int hz = offset / SLICE + p / (HX * HY) % HZ, hy = offset % SLICE / ROW + p / HX % HY,
                  hx = offset % ROW + p % HX;
        const int tz = twin(hz, plane.wraps[0], plane.domain[0], tile.size[0] + HZ - 1);
        const int ty = twin(hy, plane.wraps[1], plane.domain[1], tile.size[1] + HY - 1);
        const int tx = twin(hx, plane.wraps[2], plane.domain[2], tile.size[2] + HX - 1);
        const int base = p / BOX * CHANNEL;
        const float value = buffer[base + hz * SLICE + hy * ROW + hx];
        for (int i = 1; i < 8; i++) {
            const int z = i & 4 ? tz : hz, y = i & 2 ? ty : hy, x = i & 1 ? tx : hx;
            if ((z | y | x) >= 0) buffer[base + z * SLICE + y * ROW + x] = value;
        }
    }
}
