// All codes sorted by atom, then tile, then needle: what passes over the atoms read.

struct __align__(16) CodePosition {
    int z, y, x;  // first sample of the patch
    int tile;
};

// Codes of every atom in every tile: `counts` is M x tiles, zero before.
extern "C" __global__ void count_atoms(KernelArgs w, int* counts) {
    const int t = blockIdx.x;
    const Code* codes = codes_of(w, t, w.slot[t]);
    for (int i = threadIdx.x; i < w.counts[t]; i += blockDim.x) {
        atomicAdd(counts + (i64)(codes[i].atom & ~CLIPPED_BIT) * w.tile_count + t, 1);
    }
}

#define SCAN_PART 4096

// Sums of parts of `numbers`.
extern "C" __global__ void scan_parts(const int* numbers, i64 length, int* sums) {
    __shared__ int room[32];
    int sum = 0;
    for (int i = threadIdx.x; i < SCAN_PART; i += blockDim.x) {
        const i64 at = (i64)blockIdx.x * SCAN_PART + i;
        if (at < length) sum += numbers[at];
    }
    for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(FULL, sum, s);
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        sum = 0;
        for (int i = 0; i < (int)blockDim.x / 32; i++) sum += room[i];
        sums[blockIdx.x] = sum;
    }
}

// Exclusive sums over the parts, by one block of 1024 threads.
extern "C" __global__ void scan_sums(int* sums, int count) {
    __shared__ int room[32];
    __shared__ int carried;
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    if (thread == 0) carried = 0;
    __syncthreads();
    for (int from = 0; from < count; from += 1024) {
        const int mine = from + thread < count ? sums[from + thread] : 0;
        const int sum = warp_scan(mine, lane);
        if (lane == 31) room[warp] = sum;
        __syncthreads();
        int before = carried, all = 0;
        for (int i = 0; i < 32; i++) {
            if (i < warp) before += room[i];
            all += room[i];
        }
        if (from + thread < count) sums[from + thread] = before + sum - mine;
        __syncthreads();
        if (thread == 0) carried += all;
        __syncthreads();
    }
}

// Exclusive sums of `numbers`, in place; `first[length]` becomes the sum of all.
extern "C" __global__ void scan_within(int* numbers, i64 length, const int* sums) {
    __shared__ int room[32];
    const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
    const int each = SCAN_PART / blockDim.x;
    const i64 from = (i64)blockIdx.x * SCAN_PART + thread * each;
    int mine = 0;
    for (int i = 0; i < each; i++) mine += from + i < length ? numbers[from + i] : 0;
    const int sum = warp_scan(mine, lane);
    if (lane == 31) room[warp] = sum;
    __syncthreads();
    int at = sums[blockIdx.x] + sum - mine;
    for (int i = 0; i < warp; i++) at += room[i];
    for (int i = 0; i < each && from + i < length; i++) {
        const int number = numbers[from + i];
        numbers[from + i] = at;
        at += number;
        if (from + i + 1 == length) numbers[length] = at;
    }
}

// Puts every code in its place; `first` as scanned, `next` a copy of it.
extern "C" __global__ void place_codes(
    KernelArgs w, int* next, CodePosition* places, float* values, u32* numbers) {
    const int t = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (t >= w.tile_count) return;
    const Tile& tile = w.tiles[t];
    const Code* codes = codes_of(w, t, w.slot[t]);
    const u32* needles = w.needles + w.shapes[tile.shape].needles_at;
    const int count = w.counts[t];
    for (int from = 0; from < count; from += 32) {
        const bool any = from + lane < count;
        const Code code = codes[any ? from + lane : 0];
        const int atom = any ? (int)(code.atom & ~CLIPPED_BIT) : -1 - lane;
        // Codes of one atom among these 32, in order.
        u32 peers = 0;
        for (int other = 0; other < 32; other++) {
            if (__shfl_sync(FULL, atom, other) == atom) peers |= 1u << other;
        }
        if (any) {
            int* place = next + (i64)atom * w.tile_count + t;
            const int at = *place + __popc(peers & ((1u << lane) - 1u));
            const int offset = needles[code.needle];
            places[at] = {
                tile.origin[0] + offset / SLICE, tile.origin[1] + offset % SLICE / ROW,
                tile.origin[2] + offset % ROW, t};
            values[at] = code.value;
            numbers[at] = code.needle;
        }
        __syncwarp();
        if (any && __ffs(peers) - 1 == lane) next[(i64)atom * w.tile_count + t] += __popc(peers);
        __syncwarp();
    }
}
