// The largest correlation of every needle, in shares of the weights of its atoms: a convolution of
// the residual with all atoms of which nothing but the maximum is kept. A thread has AT_ONCE
// neighbouring positions and CHUNK atoms in its registers: a row of the residual serves all shifts
// of a row of an atom.

#define AT_ONCE 8
#define CHUNKS ((M + CHUNK - 1) / CHUNK)
#define CHUNK4 ((CHUNK + 3) / 4)
// Taps of a row taken at once, and their number with padding.
#define TAPS (HX <= 12 ? HX : 8)
#define ROW_TAPS ((HX + TAPS - 1) / TAPS * TAPS)
#define REGION_ROW (TX * AT_ONCE + ROW_TAPS - 1)
#define REGION_SLICE ((TY + HY - 1) * REGION_ROW)
#define REGION_CHANNEL ((TZ + HZ - 1) * REGION_SLICE)
#define REGION_ROWS (C * HZ * HY)
#define REGION_THREADS (TX * TY * TZ)

struct ReachBlock {
    int plane;
    int at[3];  // first position, counted from the first of the plane
};

// `taps`: CHUNKS x REGION_ROWS x ROW_TAPS x CHUNK4 fours of atoms.
extern "C" __global__ void __launch_bounds__(REGION_THREADS)
    find_reach(KernelArgs w, const ReachBlock* regions, const float4* taps, u32* plane_largest) {
    extern __shared__ float4 memory[];
    float4* chip_taps = memory;
    float* field = reinterpret_cast<float*>(memory + REGION_ROWS * ROW_TAPS * CHUNK4);
    __shared__ u32 block_largest;
    const ReachBlock region = regions[blockIdx.x];
    const Plane& plane = w.planes[region.plane];
    const Domain domain(w, plane);
    const int thread = threadIdx.x;
    if (thread == 0) block_largest = 0;
    for (int i = thread; i < C * REGION_CHANNEL; i += REGION_THREADS) {
        const int x = i % REGION_ROW, y = i / REGION_ROW % (TY + HY - 1),
                  z = i / REGION_SLICE % (TZ + HZ - 1), c = i / REGION_CHANNEL;
        const int gz = plane.first[0] + region.at[0] + z, gy = plane.first[1] + region.at[1] + y,
                  gx = plane.first[2] + region.at[2] + x;
        // A region may stick out behind the last position; values there are not used.
        const bool beyond = w.periodic && (gz >= 2 * plane.domain[0] || gy >= 2 * plane.domain[1] ||
                                           gx >= 2 * plane.domain[2]);
        const i64 from = beyond ? -1 : domain.at(c, gz, gy, gx);
        field[i] = from < 0 ? 0.0f : w.residual[from];
    }
    const int tx = thread % TX, ty = thread / TX % TY, tz = thread / (TX * TY);
    float most[AT_ONCE];
#pragma unroll
    for (int s = 0; s < AT_ONCE; s++) most[s] = 0.0f;
    for (int chunk = 0; chunk < CHUNKS; chunk++) {
        __syncthreads();
        const float4* from = taps + (i64)chunk * REGION_ROWS * ROW_TAPS * CHUNK4;
        for (int i = thread; i < REGION_ROWS * ROW_TAPS * CHUNK4; i += REGION_THREADS)
            chip_taps[i] = from[i];
        __syncthreads();
        float sum[CHUNK][AT_ONCE];
#pragma unroll
        for (int a = 0; a < CHUNK; a++) {
#pragma unroll
            for (int s = 0; s < AT_ONCE; s++) sum[a][s] = 0.0f;
        }
#pragma unroll 1
        for (int row = 0; row < REGION_ROWS; row++) {
            const int y = row % HY, z = row / HY % HZ, c = row / (HY * HZ);
            const float* line = field + c * REGION_CHANNEL + (tz + z) * REGION_SLICE +
                                (ty + y) * REGION_ROW + tx * AT_ONCE;
            const float4* row_taps = chip_taps + row * ROW_TAPS * CHUNK4;
#pragma unroll 1
            for (int first = 0; first < ROW_TAPS; first += TAPS) {
                float sample[AT_ONCE + TAPS - 1];
#pragma unroll
                for (int s = 0; s < AT_ONCE + TAPS - 1; s++) sample[s] = line[first + s];
#pragma unroll
                for (int tap = 0; tap < TAPS; tap++) {
                    float4 d[CHUNK4];
#pragma unroll
                    for (int a = 0; a < CHUNK4; a++) d[a] = row_taps[(first + tap) * CHUNK4 + a];
#pragma unroll
                    for (int a = 0; a < CHUNK; a++) {
                        const float x = part(d[a / 4], a % 4);
#pragma unroll
                        for (int s = 0; s < AT_ONCE; s++)
                            sum[a][s] = fmaf(x, sample[tap + s], sum[a][s]);
                    }
                }
            }
        }
#pragma unroll
        for (int a = 0; a < CHUNK; a++) {
            const int k = chunk * CHUNK + a;
            const float inverse = k < M ? __ldg(w.inverse_weights + k) : 0.0f;
#pragma unroll
            for (int s = 0; s < AT_ONCE; s++)
                most[s] = fmaxf(most[s], (w.nonnegative ? sum[a][s] : fabsf(sum[a][s])) * inverse);
        }
    }
    const int z = region.at[0] + tz, y = region.at[1] + ty;
    float largest = 0.0f;
    if (z < plane.positions[0] && y < plane.positions[1]) {
#pragma unroll
        for (int s = 0; s < AT_ONCE; s++) {
            const int x = region.at[2] + tx * AT_ONCE + s;
            if (x < plane.positions[2]) {
                const i64 at =
                    plane.positions_at + ((i64)z * plane.positions[1] + y) * plane.positions[2] + x;
                const float reach = w.position_weights ? most[s] / w.position_weights[at] : most[s];
                w.reach[at] = reach;
                // Not a number must not pass unseen.
                largest = reach > largest || reach != reach ? reach : largest;
            }
        }
    }
    atomicMax(&block_largest, __float_as_uint(largest));
    __syncthreads();
    if (thread == 0) atomicMax(plane_largest + region.plane, block_largest);
}
