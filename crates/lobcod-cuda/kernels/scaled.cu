// The residual scaled by a field that varies smoothly over the signal: what a better dual point is
// made of.

// One value a cell of a lattice; the scale at a sample is their quadratic B-spline there.
struct Scales {
    const float* values;
    int start[3];  // first sample, counted from the first of the domain
    int length[3];
    int counts[3];
    int periodic;
};

// A box of samples of the domain.
struct Box {
    int from[3];
    int size[3];
};

// The three cells whose values make the scale at a place of an axis, and their shares.
struct Spline {
    int cell[3];
    double share[3];
};

__device__ __forceinline__ Spline spline_at(const Scales& scales, int axis, int at) {
    const int count = scales.counts[axis];
    const double along = fmin(
        fmax((at - scales.start[axis] + 0.5) * count / scales.length[axis], 0.0), (double)count);
    const int cell = min((int)along, count - 1);
    const double u = along - cell;
    Spline spline;
    spline.share[0] = 0.5 * (1.0 - u) * (1.0 - u);
    spline.share[2] = 0.5 * u * u;
    spline.share[1] = 1.0 - spline.share[0] - spline.share[2];
#pragma unroll
    for (int step = 0; step < 3; step++) {
        const int near = cell + step - 1;
        spline.cell[step] = scales.periodic ? (near + count) % count : min(max(near, 0), count - 1);
    }
    return spline;
}

__device__ __forceinline__ double scale_at(const Scales& scales, int z, int y, int x) {
    const Spline along_z = spline_at(scales, 0, z), along_y = spline_at(scales, 1, y),
                 along_x = spline_at(scales, 2, x);
    double sum = 0.0;
#pragma unroll
    for (int i = 0; i < 3; i++) {
#pragma unroll
        for (int j = 0; j < 3; j++) {
            const float* row =
                scales.values +
                ((i64)along_z.cell[i] * scales.counts[1] + along_y.cell[j]) * scales.counts[2];
            double mixed = 0.0;
#pragma unroll
            for (int k = 0; k < 3; k++) mixed += along_x.share[k] * row[along_x.cell[k]];
            sum += along_z.share[i] * along_y.share[j] * mixed;
        }
    }
    return sum;
}

// Calls f(number of the sample in the fields, its scale) for the samples of a box, channel after
// channel.
template <typename F>
__device__ __forceinline__ void each_scaled(
    const KernelArgs& w, const Scales& scales, const Plane& plane, const Box& box, F f) {
    const i64 count = (i64)C * box.size[0] * box.size[1] * box.size[2];
    for (i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x; i < count;
         i += (i64)gridDim.x * blockDim.x) {
        const i64 row = i / box.size[2], slice = row / box.size[1];
        const int x = box.from[2] + (int)(i % box.size[2]),
                  y = box.from[1] + (int)(row % box.size[1]);
        const int z = box.from[0] + (int)(slice % box.size[0]), c = (int)(slice / box.size[0]);
        const i64 at = ((i64)(c * plane.domain[0] + z) * plane.domain[1] + y) * plane.domain[2] + x;
        f(plane.samples_at + at, scale_at(scales, z, y, x));
    }
}

// The scaled residual of a plane; `scaled` begins with its first sample.
extern "C" __global__ void scale_residual(
    KernelArgs w, Scales scales, int number, Box all, float* scaled) {
    const Plane& plane = w.planes[number];
    each_scaled(w, scales, plane, all, [&](i64 at, double scale) {
        scaled[at - plane.samples_at] = (float)(scale * (double)w.residual[at]);
    });
}

// ||s r||^2 and <A (Y - B), s r> over a box of a plane, a pair of sums a block.
extern "C" __global__ void tally_scaled(
    KernelArgs w, Scales scales, int number, Box box, double* sums) {
    double energy = 0.0, dot = 0.0;
    each_scaled(w, scales, w.planes[number], box, [&](i64 at, double scale) {
        const double r = scale * (double)w.residual[at];
        const float weight = w.weights ? w.weights[at] : 1.0f;
        energy += weight > 0.0f ? r * r / (double)weight : 0.0;
        dot += r * (double)w.target[at];
    });
    put_sums(energy, dot, sums);
}

// The largest reach of the needles of every tile, a warp each.
extern "C" __global__ void reach_of_tiles(KernelArgs w, float* largest) {
    const int t = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (t >= w.tile_count) return;
    const Tile& tile = w.tiles[t];
    const Plane& plane = w.planes[tile.plane];
    const Shape& shape = w.shapes[tile.shape];
    const u32* needles = w.needles + shape.needles_at;
    float most = 0.0f;
    for (int q = lane; q < shape.needle_count; q += 32)
        most = fmaxf(most, w.reach[position_at(plane, tile, needles[q])]);
    most = warp_max(most);
    if (lane == 0) largest[t] = most;
}
