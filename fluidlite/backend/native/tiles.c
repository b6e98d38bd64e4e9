/* Sums of rows for convolutions in tiles of four rows (kernels/winograd.py).  Arrays lie one element
   behind the other; planes come in pairs. */
#define SIZES(k) ((const i64 *)DATA(args, k))

#define EACH_ELEMENT(count, first, second)                                                         \
  _Pragma("omp simd") for (i64 x = 0; x < count; x++) {                                            \
    float one, other;                                                                              \
    first;                                                                                         \
    second;                                                                                        \
    p[x] = one;                                                                                    \
    q[x] = other;                                                                                  \
  }

/* rows [row of a tile, channel, tile, column and sample], (pair, channels, tiles, length of a row,
   elements of a window, steps between them, length of a result's row, pitch) -> patches [plane,
   channel and element, pitch] */
CONTRACTED static int tile_patches(PyObject *args) {
  CONTRACT
  const float *image = (const float *)DATA(args, 0);
  const i64 *s = SIZES(1);
  float *patches = (float *)DATA(args, 2);
  const i64 pair = s[0], channels = s[1], tiles = s[2], length = s[3], window = s[4], step = s[5];
  const i64 width = s[6], pitch = s[7];
  const i64 row = channels * tiles * length, plane = channels * window * pitch;
  for (i64 c = 0; c < channels; c++)
    for (i64 t = 0; t < tiles; t++)
      for (i64 j = 0; j < window; j++) {
        const float *d = image + (c * tiles + t) * length + j * step;
        float *restrict p = patches + (c * window + j) * pitch + t * width;
        float *restrict q = p + plane;
#define D(k) d[k * row + x]
        if (pair == 0)
          EACH_ELEMENT(width, one = 4 * (D(0) - D(2)) + (D(4) - D(2)),
                       other = 4 * (D(1) - D(3)) + (D(5) - D(3)))
        else if (pair == 1)
          EACH_ELEMENT(width, one = (D(4) - D(2)) + 2 * (D(3) - D(1)),
                       other = (D(4) - D(2)) - 2 * (D(3) - D(1)))
        else
          EACH_ELEMENT(width, one = (D(4) - 4 * D(2)) + (D(3) - 4 * D(1)),
                       other = (D(4) - 4 * D(2)) - (D(3) - 4 * D(1)))
#undef D
      }
  return DONE;
}

/* products [plane, filter, tile, column and sample], (filters, rows, length of a row, first tile,
   tiles) -> result [filter, row, column and sample] */
CONTRACTED static int tile_rows(PyObject *args) {
  CONTRACT
  const float *products = (const float *)DATA(args, 0);
  const i64 *s = SIZES(1);
  float *result = (float *)DATA(args, 2);
  const i64 filters = s[0], rows = s[1], width = s[2], first = s[3], count = s[4];
  const i64 plane = filters * count * width;
  for (i64 f = 0; f < filters; f++)
    for (i64 t = 0; t < count; t++) {
      const float *m = products + (f * count + t) * width;
      const i64 top = 4 * (first + t);
      float *restrict y = result + (f * rows + top) * width;
      for (i64 pair = 0; pair < 2 && top + 2 * pair < rows; pair++) {
        const int both = top + 2 * pair + 1 < rows;
        float *restrict p = y + 2 * pair * width, *q = both ? p + width : p;
#define M(k) m[k * plane + x]
        if (!both)
#pragma omp simd
          for (i64 x = 0; x < width; x++) {
            float s = M(4) + M(5), u = M(2) + M(3);
            p[x] = pair ? s + 4 * u : (M(0) + s) + u;
          }
        else if (pair)
#pragma omp simd
          for (i64 x = 0; x < width; x++) {
            float s = M(4) + M(5), u = M(2) + M(3), d = M(4) - M(5), v = M(2) - M(3);
            p[x] = s + 4 * u;
            q[x] = (d + 8 * v) + M(1);
          }
        else
#pragma omp simd
          for (i64 x = 0; x < width; x++) {
            float s = M(4) + M(5), u = M(2) + M(3), d = M(4) - M(5), v = M(2) - M(3);
            p[x] = (M(0) + s) + u;
            q[x] = d + 2 * v;
          }
#undef M
      }
    }
  return DONE;
}

/* cotangent [filter, row, column and sample], (pair, filters, rows, length of a row, first tile,
   tiles) -> planes [plane, filter, tile, column and sample] */
CONTRACTED static int tile_planes(PyObject *args) {
  CONTRACT
  const float *cotangent = (const float *)DATA(args, 0);
  const i64 *s = SIZES(1);
  float *planes = (float *)DATA(args, 2);
  const i64 pair = s[0], filters = s[1], rows = s[2], width = s[3], first = s[4], count = s[5];
  for (i64 f = 0; f < filters; f++)
    for (i64 t = 0; t < count; t++) {
      const float *y = cotangent + (f * rows + 4 * (first + t)) * width;
      float *restrict p = planes + (f * count + t) * width;
      float *restrict q = p + filters * count * width;
#define Y(k) y[k * width + x]
      if (pair == 0)
        EACH_ELEMENT(width, one = Y(0), other = Y(3))
      else if (pair == 1)
        EACH_ELEMENT(width, one = (Y(0) + 4 * Y(2)) + 2 * (Y(1) + 4 * Y(3)),
                     other = (Y(0) + 4 * Y(2)) - 2 * (Y(1) + 4 * Y(3)))
      else
        EACH_ELEMENT(width, one = (Y(0) + Y(2)) + (Y(1) + Y(3)),
                     other = (Y(0) + Y(2)) - (Y(1) + Y(3)))
#undef Y
    }
  return DONE;
}
