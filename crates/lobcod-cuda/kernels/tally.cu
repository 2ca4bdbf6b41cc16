// Sums over planes in f64, added in one order: parts of the fields and tiles first, then all parts
// of a plane.

#define PART 8192

struct SampleRun {
    int plane;
    int length;
    i64 from;
};

__device__ __forceinline__ double block_sum(double x, double* partial) {
    x = warp_sum(x);
    __syncthreads();
    if (threadIdx.x % 32 == 0) partial[threadIdx.x / 32] = x;
    __syncthreads();
    double sum = 0.0;
    for (int i = 0; i < (int)blockDim.x / 32; i++) sum += partial[i];
    return sum;
}

// Adds up two numbers over all threads of a block, and writes the pair where those of the block
// belong.
__device__ __forceinline__ void put_sums(double energy, double dot, double* sums) {
    __shared__ double partial[32];
    energy = block_sum(energy, partial);
    dot = block_sum(dot, partial);
    if (threadIdx.x == 0) {
        sums[2 * blockIdx.x] = energy;
        sums[2 * blockIdx.x + 1] = dot;
    }
}

// ||r||^2 and <A (Y - B), r> of every run; the residual carries the squared weight, so its energy
// is r^2 / w.
extern "C" __global__ void tally_parts(KernelArgs w, const SampleRun* parts, double* sums) {
    const SampleRun run = parts[blockIdx.x];
    double energy = 0.0, dot = 0.0;
    for (int i = threadIdx.x; i < run.length; i += blockDim.x) {
        const double r = w.residual[run.from + i];
        const float weight = w.weights ? w.weights[run.from + i] : 1.0f;
        energy += weight == 1.0f ? r * r : weight > 0.0f ? r * r / (double)weight : 0.0;
        dot += r * (double)w.target[run.from + i];
    }
    put_sums(energy, dot, sums);
}

// Weighted l1 norm and energy of the codes of every tile, a warp each.
extern "C" __global__ void tally_tiles(KernelArgs w, double* sums) {
    const int t = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (t >= w.tile_count) return;
    const Tile& tile = w.tiles[t];
    const Plane& plane = w.planes[tile.plane];
    const Code* codes = codes_of(w, t, w.slot[t]);
    const u32* needles = w.needles + w.shapes[tile.shape].needles_at;
    double norm = 0.0, energy = 0.0;
    for (int i = lane; i < w.counts[t]; i += 32) {
        const Code code = codes[i];
        float weight = w.atom_weights[code.atom & ~CLIPPED_BIT];
        if (w.position_weights)
            weight *= w.position_weights[position_at(plane, tile, needles[code.needle])];
        norm += (double)weight * fabs((double)code.value);
        energy += (double)code.value * (double)code.value;
    }
    norm = warp_sum(norm);
    energy = warp_sum(energy);
    if (lane == 0) {
        sums[2 * t] = norm;
        sums[2 * t + 1] = energy;
    }
}

// All parts and tiles of every plane: ||r||^2, <A (Y - B), r>, l1 norm, energy of the codes, number
// of codes, largest reach.
extern "C" __global__ void tally_planes(
    KernelArgs w, const double* parts, const int* first_part, const double* tiles,
    const u32* plane_largest, double* planes) {
    __shared__ double partial[32];
    const int p = blockIdx.x;
    const Plane& plane = w.planes[p];
    double sum[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
    for (int i = first_part[p] + threadIdx.x; i < first_part[p + 1]; i += blockDim.x) {
        sum[0] += parts[2 * i];
        sum[1] += parts[2 * i + 1];
    }
    for (int i = threadIdx.x; i < plane.tile_count; i += blockDim.x) {
        const int t = plane.first_tile + i;
        sum[2] += tiles[2 * t];
        sum[3] += tiles[2 * t + 1];
        sum[4] += (double)w.counts[t];
    }
    for (int i = 0; i < 5; i++) {
        const double all = block_sum(sum[i], partial);
        if (threadIdx.x == 0) planes[6 * p + i] = all;
    }
    if (threadIdx.x == 0) planes[6 * p + 5] = (double)__uint_as_float(plane_largest[p]);
}
