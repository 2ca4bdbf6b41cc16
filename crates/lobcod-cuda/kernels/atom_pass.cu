// One pass over the atoms: each in turn becomes the best of its direction, codes held still.
//
// For atom d with codes a_i the objective in d' is at most f(d) - <g, d' - d> + L/2 ||d' - d||^2
// with g = sum_i a_i P_i R and L = sum over shifts s of |sum_i a_i a_(i+s)|, whatever the mask and
// the border. Its lowest point on the unit sphere is normalise(L d + g). Sums are made of whole
// numbers (2^-k), so no order of the blocks changes a bit.

#define SPAN_Z (2 * HZ - 1)
#define SPAN_Y (2 * HY - 1)
#define SPAN_X (2 * HX - 1)
#define SPAN (SPAN_Z * SPAN_Y * SPAN_X)
#define INSPECT_WARPS 8

struct AtomPassArgs {
    const int* first;  // M x tiles: where the codes of an atom in a tile begin
    const CodePosition* places;
    const float* values;
    const u32* numbers;    // of their needles
    const double* planes;  // what tally_planes says
    int plane_count;
    i64* gradient;     // M x N
    i64* correlation;  // M x SPAN
    float* improved;   // M x N: the atoms after the pass
};

// Factors that make whole numbers of sums: 2^k with |sum| 2^k < 2^61.
__device__ __forceinline__ double whole_scale(double bound) {
    if (!(bound > 0.0)) return 1.0;
    int exponent;
    frexp(bound, &exponent);
    return ldexp(1.0, 61 - exponent);
}

__device__ __forceinline__ void whole_scales(
    const AtomPassArgs& pass, double& gradient, double& correlation) {
    double energy = 0.0, codes = 0.0;
    for (int p = 0; p < pass.plane_count; p++) {
        energy += pass.planes[6 * p];
        codes += pass.planes[6 * p + 3];
    }
    // Atoms that move may make the residual larger for a while, never more than this.
    gradient = whole_scale(16.0 * sqrt(energy * codes) + 16.0 * codes);
    correlation = whole_scale(2.0 * codes);
}

__device__ __forceinline__ i64 to_whole(double x, double scale) { return llrint(x * scale); }

// Calls f(number) for the codes of atom k in a tile and its neighbours, in one order; the lanes
// take tiles in turn.
template <typename F>
__device__ __forceinline__ void each_near(
    const KernelArgs& w, const AtomPassArgs& pass, int k, const Tile& tile, int t, int from,
    int step, F f) {
    for (int i = from; i <= tile.neighbour_count; i += step) {
        const int near = i == 0 ? t : w.neighbours[tile.neighbours_at + i - 1];
        const i64 at = (i64)k * w.tile_count + near;
        const int end = pass.first[at + 1];
        for (int j = pass.first[at]; j < end; j++) f(j);
    }
}

// Gradient and autocorrelation of the codes of atom k.
extern "C" __global__ void __launch_bounds__(INSPECT_WARPS * 32, 1)
    inspect_atom(KernelArgs w, AtomPassArgs pass, int k) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int from = pass.first[(i64)k * w.tile_count],
              to = pass.first[(i64)(k + 1) * w.tile_count];
    if (from + (int)blockIdx.x * INSPECT_WARPS >= to) return;
    i64 sums[(N + 31) / 32];
    for (int j = 0; j < (N + 31) / 32; j++) sums[j] = 0;
    double scale, correlation_scale;
    whole_scales(pass, scale, correlation_scale);
    for (int i = from + blockIdx.x * INSPECT_WARPS + warp; i < to; i += gridDim.x * INSPECT_WARPS) {
        const CodePosition place = pass.places[i];
        const float value = pass.values[i];
        const Tile& tile = w.tiles[place.tile];
        const Plane& plane = w.planes[tile.plane];
        const Domain domain(w, plane);
#pragma unroll
        for (int j = 0; j < (N + 31) / 32; j++) {
            const int p = j * 32 + lane;
            const i64 at = p >= N ? -1 : domain.in_patch(p, place.z, place.y, place.x);
            if (at >= 0) sums[j] += to_whole((double)value * (double)w.residual[at], scale);
        }
        i64* correlation = pass.correlation + (i64)k * SPAN;
        each_near(w, pass, k, tile, place.tile, lane, 32, [&](int j) {
            const CodePosition other = pass.places[j];
            const i64 product = to_whole((double)value * (double)pass.values[j], correlation_scale);
            const int turns = w.periodic ? 1 : 0;
            for (int tz = -turns; tz <= turns; tz++) {
                const int sz = other.z - place.z + tz * plane.domain[0];
                if (sz <= -HZ || sz >= HZ) continue;
                for (int ty = -turns; ty <= turns; ty++) {
                    const int sy = other.y - place.y + ty * plane.domain[1];
                    if (sy <= -HY || sy >= HY) continue;
                    for (int tx = -turns; tx <= turns; tx++) {
                        const int sx = other.x - place.x + tx * plane.domain[2];
                        if (sx <= -HX || sx >= HX) continue;
                        const int shift =
                            ((sz + HZ - 1) * SPAN_Y + sy + HY - 1) * SPAN_X + sx + HX - 1;
                        atomicAdd(reinterpret_cast<u64*>(correlation + shift), (u64)product);
                    }
                }
            }
        });
    }
    for (int j = 0; j < (N + 31) / 32; j++) {
        const int p = j * 32 + lane;
        if (p < N && sums[j])
            atomicAdd(reinterpret_cast<u64*>(pass.gradient + (i64)k * N + p), (u64)sums[j]);
    }
}

// Does the patch at `place` cover the sample?
__device__ __forceinline__ int cover(
    const Plane& plane, int periodic, const CodePosition& place, int z, int y, int x) {
    int dz = z - place.z, dy = y - place.y, dx = x - place.x;
    if (periodic) {
        dz += dz < 0 ? plane.domain[0] : 0;
        dy += dy < 0 ? plane.domain[1] : 0;
        dx += dx < 0 ? plane.domain[2] : 0;
    }
    return (dz >= 0) & (dz < HZ) & (dy >= 0) & (dy < HY) & (dx >= 0) & (dx < HX)
               ? (dz * HY + dy) * HX + dx
               : -1;
}

// Moves atom k, and lets the residual follow. Of the codes that cover a sample the first one takes
// them all off.
extern "C" __global__ void __launch_bounds__(INSPECT_WARPS * 32, 1)
    move_atom(KernelArgs w, AtomPassArgs pass, int k) {
    __shared__ float change[N];
    __shared__ double partial[INSPECT_WARPS];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int from = pass.first[(i64)k * w.tile_count],
              to = pass.first[(i64)(k + 1) * w.tile_count];
    if (from + (int)blockIdx.x * INSPECT_WARPS >= to) return;
    double scale, correlation_scale;
    whole_scales(pass, scale, correlation_scale);
    double bound = 0.0;
    for (int s = threadIdx.x; s < SPAN; s += blockDim.x)
        bound += fabs((double)pass.correlation[(i64)k * SPAN + s]);
    bound = block_sum(bound, partial) / correlation_scale;
    if (!(bound > 0.0)) return;
    double energy = 0.0;
    for (int p = threadIdx.x; p < N; p += blockDim.x) {
        const double after =
            (double)w.atoms[(i64)k * N + p] + (double)pass.gradient[(i64)k * N + p] / scale / bound;
        energy += after * after;
    }
    const double norm = sqrt(block_sum(energy, partial));
    energy = 0.0;
    for (int p = threadIdx.x; p < N; p += blockDim.x) {
        const float d = w.atoms[(i64)k * N + p];
        const double after =
            ((double)d + (double)pass.gradient[(i64)k * N + p] / scale / bound) / norm;
        // The residual follows what the atom becomes in its own precision.
        const float moved = d + (float)(after - (double)d);
        change[p] = moved - d;
        energy += (double)change[p] * (double)change[p];
        if (blockIdx.x == 0) pass.improved[(i64)k * N + p] = moved;
    }
    energy = block_sum(energy, partial);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        atomicMax(w.counters + COUNTER_MOVE, (u64)__double_as_longlong(sqrt(energy)));
    __syncthreads();
    for (int i = from + blockIdx.x * INSPECT_WARPS + warp; i < to; i += gridDim.x * INSPECT_WARPS) {
        const CodePosition place = pass.places[i];
        const float value = pass.values[i];
        const Tile& tile = w.tiles[place.tile];
        const Plane& plane = w.planes[tile.plane];
        const Domain domain(w, plane);
        bool crowded = false;
        each_near(w, pass, k, tile, place.tile, lane, 32, [&](int j) {
            if (j == i) return;
            const CodePosition other = pass.places[j];
            int dz = abs(other.z - place.z), dy = abs(other.y - place.y),
                dx = abs(other.x - place.x);
            if (w.periodic) {
                dz = min(dz, plane.domain[0] - dz);
                dy = min(dy, plane.domain[1] - dy);
                dx = min(dx, plane.domain[2] - dx);
            }
            crowded |= dz < HZ && dy < HY && dx < HX;
        });
        crowded = __any_sync(FULL, crowded);
        for (int p = lane; p < N; p += 32) {
            const int c = p / BOX, z = place.z + p / (HX * HY) % HZ, y = place.y + p / HX % HY,
                      x = place.x + p % HX;
            const i64 at = domain.at(c, z, y, x);
            if (at < 0) continue;
            float sum = value * change[p];
            if (crowded) {
                const int gz = inside(z, plane.domain[0], w.periodic),
                          gy = inside(y, plane.domain[1], w.periodic),
                          gx = inside(x, plane.domain[2], w.periodic);
                int owner = i;
                sum = 0.0f;
                each_near(w, pass, k, tile, place.tile, 0, 1, [&](int j) {
                    const int q = cover(plane, w.periodic, pass.places[j], gz, gy, gx);
                    if (q >= 0) {
                        owner = min(owner, j);
                        sum = fmaf(pass.values[j], change[c * BOX + q], sum);
                    }
                });
                if (owner != i) continue;
            }
            w.residual[at] -= w.weights ? sum * w.weights[at] : sum;
        }
    }
}

// Gradient of the data term in f64, `- sum_i P_i R a_i^T`, over one layer of a plane or (layer -1)
// all codes; a block an atom.
extern "C" __global__ void __launch_bounds__(INSPECT_WARPS * 32, 1)
    gradient(KernelArgs w, AtomPassArgs pass, int of_plane, int of_layer, double* out) {
    extern __shared__ double parts[];  // INSPECT_WARPS x N
    const int k = blockIdx.x, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int from = pass.first[(i64)k * w.tile_count],
              to = pass.first[(i64)(k + 1) * w.tile_count];
    double* mine = parts + (i64)warp * N;
    for (int p = lane; p < N; p += 32) mine[p] = 0.0;
    for (int i = from + warp; i < to; i += INSPECT_WARPS) {
        const CodePosition place = pass.places[i];
        const Tile& tile = w.tiles[place.tile];
        const Plane& plane = w.planes[tile.plane];
        const Domain domain(w, plane);
        if (of_layer >= 0) {
            if (tile.plane != of_plane) continue;
            if ((int)w.needle_layers[w.shapes[tile.shape].needles_at + pass.numbers[i]] != of_layer)
                continue;
        }
        const double value = pass.values[i];
        for (int p = lane; p < N; p += 32) {
            const i64 at = domain.in_patch(p, place.z, place.y, place.x);
            if (at >= 0) mine[p] -= value * (double)w.residual[at];
        }
    }
    __syncthreads();
    for (int p = threadIdx.x; p < N; p += blockDim.x) {
        double sum = 0.0;
        for (int i = 0; i < INSPECT_WARPS; i++) sum += parts[(i64)i * N + p];
        out[(i64)k * N + p] = sum;
    }
}
