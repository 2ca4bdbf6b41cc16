// The dictionary in the forms the kernels read, and what belongs to it in the codes.

// Samples of every atom as the lanes of a code own them; `rows` holds M x N numbers.
extern "C" __global__ void pack_rows(KernelArgs w, const float* rows, float* packed) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= M * LPC * NPL4 * 4) return;
    const int lane = i / 4 % LPC, j = i / (4 * LPC) % NPL4 * 4 + i % 4, k = i / (NPL4 * 4 * LPC),
              p = lane + j * LPC;
    packed[i] = j < NPL && p < N ? rows[(i64)k * N + p] : 0.0f;
}

// Four samples of every atom side by side, and the taps of chunks of atoms.
extern "C" __global__ void pack_columns(KernelArgs w, float* columns, float* taps) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < (i64)N4 * CS * 4) {
        const int within = i % 4, k = i / 4 % CS, p = (int)(i / (4 * CS)) * 4 + within;
        columns[i] = k < M && p < N ? w.atoms[(i64)k * N + p] : 0.0f;
    }
    if (i < (i64)CHUNKS * REGION_ROWS * ROW_TAPS * CHUNK4 * 4) {
        const int a = i % (CHUNK4 * 4), tap = i / (CHUNK4 * 4) % ROW_TAPS;
        const int row = i / (CHUNK4 * 4 * ROW_TAPS) % REGION_ROWS,
                  chunk = (int)(i / ((i64)CHUNK4 * 4 * ROW_TAPS * REGION_ROWS));
        const int k = chunk * CHUNK + a;
        taps[i] = a < CHUNK && k < M && tap < HX ? w.atoms[(i64)k * N + row * HX + tap] : 0.0f;
    }
}

extern "C" __global__ void make_gram(KernelArgs w, float* gram) {
    const i64 i = (i64)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= (i64)M * MS) return;
    const int k = (int)(i / MS), l = (int)(i % MS);
    double sum = 0.0;
    if (l < M) {
        for (int p = 0; p < N; p++)
            sum += (double)w.atoms[(i64)k * N + p] * (double)w.atoms[(i64)l * N + p];
    }
    gram[i] = (float)sum;
}

// Energy of every code's atom under the weights of its patch, and whether any of them is not 1; a
// warp a tile.
extern "C" __global__ void find_curvatures(KernelArgs w) {
    const int t = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (t >= w.tile_count) return;
    const Tile& tile = w.tiles[t];
    const Plane& plane = w.planes[tile.plane];
    const Domain domain(w, plane);
    Code* codes = codes_of(w, t, w.slot[t]);
    const u32* needles = w.needles + w.shapes[tile.shape].needles_at;
    const int count = w.counts[t];
    if (!is_weighted(plane, tile)) {
        for (int i = lane; i < count; i += 32) {
            const int atom = codes[i].atom & ~CLIPPED_BIT;
            codes[i].atom = atom;
            codes[i].curvature = w.gram[(i64)atom * MS + atom];
        }
        return;
    }
    for (int i = 0; i < count; i++) {
        const int atom = codes[i].atom & ~CLIPPED_BIT, offset = needles[codes[i].needle];
        const int z = tile.origin[0] + offset / SLICE, y = tile.origin[1] + offset % SLICE / ROW,
                  x = tile.origin[2] + offset % ROW;
        float sum = 0.0f;
        bool plain = true;
        for (int p = lane; p < N; p += 32) {
            const i64 at = domain.in_patch(p, z, y, x);
            const float weight = at < 0           ? 0.0f
                                 : plane.weighted ? w.weights[at]
                                                  : 1.0f,
                        d = w.atoms[(i64)atom * N + p];
            plain &= weight == 1.0f;
            sum = fmaf(weight * d, d, sum);
        }
        for (int s = 16; s; s >>= 1) sum += __shfl_xor_sync(FULL, sum, s);
        plain = __all_sync(FULL, plain);
        __syncwarp();
        if (lane == 0) {
            codes[i].atom = (u32)atom | (plain ? 0u : CLIPPED_BIT);
            codes[i].curvature = plain ? w.gram[(i64)atom * MS + atom] : sum;
        }
        __syncwarp();
    }
}

// Codes of the tiles from `from` on, one tile after the other, tile t at `first[t]` less that of
// the first of them; or back from there.
extern "C" __global__ void gather_codes(
    KernelArgs w, int from, const int* first, Code* all, int back) {
    const int t = from + blockIdx.x, at = first[t] - first[from];
    Code* codes = codes_of(w, t, w.slot[t]);
    const int count = first[t + 1] - first[t];
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        if (back)
            codes[i] = all[at + i];
        else
            all[at + i] = codes[i];
    }
    if (back && threadIdx.x == 0) w.counts[t] = count;
}

// The listed tiles move into other stores.
extern "C" __global__ void move_codes(KernelArgs w, const int* tiles, const TileStore* stores) {
    const int t = tiles[blockIdx.x], slot = w.slot[t];
    const TileStore store = stores[blockIdx.x];
    const Code* codes = codes_of(w, t, slot);
    for (int i = threadIdx.x; i < w.counts[t]; i += blockDim.x)
        store.codes[(i64)slot * store.capacity + i] = codes[i];
    __syncthreads();
    if (threadIdx.x == 0) w.stores[t] = store;
}

// Marks every tile as changed, so that it is swept again.
extern "C" __global__ void reset_changes(KernelArgs w) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t < w.tile_count) {
        w.own[t] = (double)INFINITE;
        w.seen[t] = 0.0;
    }
}
