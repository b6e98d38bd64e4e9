/* Rows and elements at numbers.  Before this stands T, the type of an element.  Arrays lie one
   element behind the other; numbers are looked at before anything is written. */
#define AT(k) ((const i64 *)DATA(args, k))
typedef unsigned long long u64;

/* whether numbers are below a bound; negative ones are left out */
EACH int fit(const i64 *index, i64 count, i64 bound) {
  int bad = 0;
  for (i64 k = 0; k < count; k++) bad |= index[k] >= bound;
  return !bad;
}

/* whether numbers are in [0, bound) */
EACH int inside(const i64 *index, i64 count, i64 bound) {
  int bad = 0;
  for (i64 k = 0; k < count; k++) bad |= (u64)index[k] >= (u64)bound;
  return !bad;
}

#define LEAST(a, b) ((a) < (b) ? (a) : (b))
#define TOGETHER 512 /* numbers of short lists that are looked at together */

/* numbers, updates, (width, rows, parts) -> rows: each part changes some of the rows, so all of
   them add in the order of the numbers */
#define OVER_ROWS(name, narrow, wide)                                                              \
  static int name(PyObject *args, i64 block) {                                                     \
    const i64 *index = AT(0), *sizes = AT(2);                                                      \
    const T *updates = (const T *)DATA(args, 1);                                                   \
    T *out = (T *)DATA(args, 3);                                                                   \
    i64 count = elements(args, 0), width = sizes[0], rows = sizes[1];                              \
    i64 first = rows * block / sizes[2], last = rows * (block + 1) / sizes[2];                     \
    if (!fit(index, count, rows)) return DECLINED;                                                 \
    if (width == 1) {                                                                              \
      for (i64 k = 0; k < count; k++) {                                                            \
        i64 row = index[k];                                                                        \
        if (row >= first && row < last) { T *to = out + row; T from = updates[k]; narrow; }        \
      }                                                                                            \
      return DONE;                                                                                 \
    }                                                                                              \
    for (i64 k = 0; k < count; k++) {                                                              \
      i64 row = index[k];                                                                          \
      if (k + 4 < count && index[k + 4] >= 0) __builtin_prefetch(out + index[k + 4] * width, 1);   \
      if (row < first || row >= last) continue;                                                    \
      T *restrict to = out + row * width;                                                          \
      const T *restrict from = updates + k * width;                                                \
      wide;                                                                                        \
    }                                                                                              \
    return DONE;                                                                                   \
  }

OVER_ROWS(add_rows, *to += from, for (i64 c = 0; c < width; c++) to[c] += from[c])
OVER_ROWS(set_rows, *to = from, for (i64 c = 0; c < width; c++) to[c] = from[c])

/* numbers, updates, a matrix, (width, rows, parts, whether the matrix counts) -> the matrix, or
   zeros, with the updates added; each part has some of the rows */
static int sum_rows(PyObject *args, i64 block) {
  const i64 *index = AT(0), *sizes = AT(3);
  const T *updates = (const T *)DATA(args, 1), *matrix = (const T *)DATA(args, 2);
  T *out = (T *)DATA(args, 4);
  i64 count = elements(args, 0), width = sizes[0], rows = sizes[1];
  i64 first = rows * block / sizes[2], last = rows * (block + 1) / sizes[2];
  u64 bytes = (u64)((last - first) * width) * sizeof(T);
  if (!inside(index, count, rows)) return DECLINED;
  if (!sizes[3]) __builtin_memset(out + first * width, 0, bytes);
  else if (out != matrix) __builtin_memcpy(out + first * width, matrix + first * width, bytes);
  for (i64 k = 0; k < count; k++) {
    i64 row = index[k];
    if (row < first || row >= last) continue;
    if (width == 1) {
      out[row] += updates[k];
      continue;
    }
    if (k + 4 < count) __builtin_prefetch(out + index[k + 4] * width, 1);
    T *restrict to = out + row * width;
    const T *restrict from = updates + k * width;
    for (i64 c = 0; c < width; c++) to[c] += from[c];
  }
  return DONE;
}

/* places [count, depth], (depth, unused, parts, sizes of the dimensions) -> numbers of elements */
static int flat_places(PyObject *args, i64 block) {
  const i64 *places = AT(0), *sizes = AT(1);
  i64 *out = (i64 *)DATA(args, 2), depth = sizes[0], count = elements(args, 2), bad = 0;
  for (i64 k = 0; k < count; k++) {
    u64 flat = 0;
    for (i64 d = 0; d < depth; d++) {
      i64 place = places[k * depth + d];
      bad |= (u64)place >= (u64)sizes[3 + d];
      flat = flat * (u64)sizes[3 + d] + (u64)place;
    }
    out[k] = (i64)flat;
  }
  return bad ? DECLINED : DONE;
}

/* the same, where the fifth array says which rows have been met; what is no number stays */
#define EXTREME(name, before)                                                                      \
  static int name(PyObject *args, i64 block) {                                                     \
    const i64 *index = AT(0), *sizes = AT(2);                                                      \
    const T *updates = (const T *)DATA(args, 1);                                                   \
    u8 *met = (u8 *)DATA(args, 3);                                                                 \
    T *out = (T *)DATA(args, 4);                                                                   \
    i64 count = elements(args, 0), width = sizes[0], rows = sizes[1];                              \
    i64 first = rows * block / sizes[2], last = rows * (block + 1) / sizes[2];                     \
    if (!fit(index, count, rows)) return DECLINED;                                                 \
    for (i64 k = 0; k < count; k++) {                                                              \
      i64 row = index[k];                                                                          \
      if (row < first || row >= last) continue;                                                    \
      T *restrict to = out + row * width;                                                          \
      const T *restrict from = updates + k * width;                                                \
      if (!met[row])                                                                               \
        for (i64 c = 0; c < width; c++) to[c] = from[c];                                           \
      else                                                                                         \
        for (i64 c = 0; c < width; c++)                                                            \
          to[c] = (to[c] before from[c]) | (to[c] != to[c]) ? to[c] : from[c];                     \
      met[row] = 1;                                                                                \
    }                                                                                              \
    return DONE;                                                                                   \
  }

EXTREME(max_rows, >=)
EXTREME(min_rows, <=)

/* numbers [lists, count, across], values [lists, rows, across], (rows, across, parts) -> elements */
static int take_along(PyObject *args, i64 block) {
  const i64 *index = AT(0), *sizes = AT(2);
  const T *values = (const T *)DATA(args, 1);
  T *out = (T *)DATA(args, 3);
  i64 rows = sizes[0], across = sizes[1], lists = elements(args, 1) / (rows * across);
  i64 count = elements(args, 0) / (lists * across);
  i64 first = lists * block / sizes[2], last = lists * (block + 1) / sizes[2];
  i64 size = count * across, looked_at = first;
  for (i64 l = first; l < last; l++) {
    const i64 *from = index + l * size;
    const T *list = values + l * rows * across;
    T *to = out + l * size;
    if (l == looked_at) {
      looked_at = LEAST(l + TOGETHER / (size + 1) + 1, last);
      if (!inside(from, (looked_at - l) * size, rows)) return DECLINED;
    }
    if (across == 1)
      for (i64 k = 0; k < count; k++) to[k] = list[from[k]];
    else
      for (i64 k = 0; k < count; k++)
        for (i64 c = 0; c < across; c++) to[k * across + c] = list[from[k * across + c] * across + c];
  }
  return DONE;
}

/* numbers and updates [lists, count, across], lists, (rows, across, parts, how they begin: as they
   are, as those, with zeros) -> lists, changed at numbers; where it declines, some are changed */
#define ALONG(name, change)                                                                        \
  static int name(PyObject *args, i64 block) {                                                     \
    const i64 *index = AT(0), *sizes = AT(3);                                                      \
    const T *updates = (const T *)DATA(args, 1);                                                   \
    T *out = (T *)DATA(args, 4);                                                                   \
    i64 rows = sizes[0], across = sizes[1], lists = elements(args, 4) / (rows * across);           \
    i64 count = elements(args, 0) / (lists * across);                                              \
    i64 first = lists * block / sizes[2], last = lists * (block + 1) / sizes[2];                   \
    i64 size = count * across, looked_at = first;                                                  \
    for (i64 l = first; l < last; l++) {                                                           \
      const i64 *restrict from = index + l * size;                                                 \
      const T *restrict more = updates + l * size;                                                 \
      T *restrict list = out + l * rows * across;                                                  \
      if (l == looked_at) {                                                                        \
        looked_at = LEAST(l + TOGETHER / (size + 1) + 1, last);                                    \
        if (!inside(from, (looked_at - l) * size, rows)) return DECLINED;                          \
        const T *before = (const T *)DATA(args, 2) + l * rows * across;                            \
        u64 bytes = (u64)((looked_at - l) * rows * across) * sizeof(T);                            \
        if (sizes[3] == 1 && list != before) __builtin_memcpy(list, before, bytes);                \
        if (sizes[3] == 2) __builtin_memset(list, 0, bytes);                                       \
      }                                                                                            \
      if (across == 1)                                                                             \
        for (i64 k = 0; k < count; k++) list[from[k]] change more[k];                              \
      else                                                                                         \
        for (i64 k = 0; k < count; k++, from += across, more += across)                            \
          for (i64 c = 0; c < across; c++) list[from[c] * across + c] change more[c];              \
    }                                                                                              \
    return DONE;                                                                                   \
  }

ALONG(add_along, +=)
ALONG(set_along, =)

/* values [lists, rows, across], (rows, across, parts, whether from the last row on) -> their sums
   along the rows */
static int sums_along(PyObject *args, i64 block) {
  const i64 *sizes = AT(1);
  const T *values = (const T *)DATA(args, 0);
  T *out = (T *)DATA(args, 2);
  i64 rows = sizes[0], across = sizes[1], lists = elements(args, 0) / (rows * across);
  i64 first = lists * block / sizes[2], last = lists * (block + 1) / sizes[2], l = first;
  i64 begin = sizes[3] ? (rows - 1) * across : 0, step = sizes[3] ? -across : across;
  for (; across == 1 && l + 8 <= last; l += 8) { /* sums that do not wait for each other */
    const T *from = values + l * rows + begin;
    T *to = out + l * rows + begin, sums[8];
    for (i64 e = 0; e < 8; e++) to[e * rows] = sums[e] = from[e * rows];
    for (i64 k = 1; k < rows; k++) {
      from += step, to += step;
      for (i64 e = 0; e < 8; e++) to[e * rows] = sums[e] += from[e * rows];
    }
  }
  for (; l < last; l++) {
    const T *from = values + l * rows * across + begin;
    T *to = out + l * rows * across + begin;
    for (i64 c = 0; c < across; c++) to[c] = from[c];
    for (i64 k = 1; k < rows; k++) {
      const T *restrict before = to, *restrict more = from += step;
      T *restrict sums = to += step;
      for (i64 c = 0; c < across; c++) sums[c] = before[c] + more[c];
    }
  }
  return DONE;
}

/* numbers, a matrix, (width, rows, parts) -> its rows of these numbers */
static int take_rows(PyObject *args, i64 block) {
  const i64 *index = AT(0), *sizes = AT(2);
  const T *matrix = (const T *)DATA(args, 1);
  T *out = (T *)DATA(args, 3);
  i64 count = elements(args, 0), width = sizes[0];
  i64 first = count * block / sizes[2], last = count * (block + 1) / sizes[2];
  if (!inside(index + first, last - first, sizes[1])) return DECLINED;
  if (width == 1)
    for (i64 k = first; k < last; k++) out[k] = matrix[index[k]];
  else
    for (i64 k = first; k < last; k++) {
      if (k + 8 < last) __builtin_prefetch(matrix + index[k + 8] * width);
      T *restrict to = out + k * width;
      const T *restrict from = matrix + index[k] * width;
      for (i64 c = 0; c < width; c++) to[c] = from[c];
    }
  return DONE;
}

/* numbers, updates, a matrix, (width, rows, parts) -> the last number of each row, and the matrix
   with these updates; each part has some of the rows */
static int replace_rows(PyObject *args, i64 block) {
  const i64 *index = AT(0), *sizes = AT(3);
  const T *updates = (const T *)DATA(args, 1), *matrix = (const T *)DATA(args, 2);
  i64 *latest = (i64 *)DATA(args, 4);
  T *out = (T *)DATA(args, 5);
  i64 count = elements(args, 0), width = sizes[0], rows = sizes[1];
  i64 first = rows * block / sizes[2], last = rows * (block + 1) / sizes[2];
  if (!inside(index, count, rows)) return DECLINED;
  for (i64 row = first; row < last; row++) latest[row] = -1;
  for (i64 k = 0; k < count; k++)
    if (index[k] >= first && index[k] < last) latest[index[k]] = k;
  for (i64 row = first; row < last; row++) {
    T *to = out + row * width;
    i64 k = latest[row];
    if (row + 4 < last && latest[row + 4] >= 0) __builtin_prefetch(updates + latest[row + 4] * width);
    if (k < 0 && out == matrix) continue;
    const T *from = k < 0 ? matrix + row * width : updates + k * width;
    if (width == 1) *to = *from;
    else __builtin_memcpy(to, from, width * sizeof(T));
  }
  return DONE;
}

/* numbers of rows, those of rows of a matrix, weights, the matrix, (width, rows, parts, rows of the
   matrix) -> rows, to which weighted ones are added; each part changes some of them */
static int add_products(PyObject *args, i64 block) {
  const i64 *index = AT(0), *source = AT(1), *sizes = AT(4);
  const T *weights = (const T *)DATA(args, 2), *matrix = (const T *)DATA(args, 3);
  T *out = (T *)DATA(args, 5);
  i64 count = elements(args, 0), width = sizes[0], rows = sizes[1];
  i64 first = rows * block / sizes[2], last = rows * (block + 1) / sizes[2];
  if (!inside(index, count, rows) || !inside(source, count, sizes[3])) return DECLINED;
  for (i64 k = 0; k < count; k++) {
    i64 row = index[k];
    if (k + 4 < count) {
      __builtin_prefetch(out + index[k + 4] * width, 1);
      __builtin_prefetch(matrix + source[k + 4] * width);
    }
    if (row < first || row >= last) continue;
    T *restrict to = out + row * width, weight = weights[k];
    const T *restrict from = matrix + source[k] * width;
    for (i64 c = 0; c < width; c++) to[c] += weight * from[c];
  }
  return DONE;
}

/* whether numbers are in [0, bound), in ascending order */
EACH int ascending(const i64 *index, i64 count, i64 bound) {
  int bad = count && (index[0] < 0 || index[count - 1] >= bound);
  for (i64 k = 1; k < count; k++) bad |= index[k] < index[k - 1];
  return !bad;
}

/* the first of numbers in ascending order that is not below one */
EACH i64 first_from(const i64 *index, i64 count, i64 number) {
  i64 low = 0, high = count;
  while (low < high) {
    i64 middle = (low + high) / 2;
    if (index[middle] < number) low = middle + 1;
    else high = middle;
  }
  return low;
}

/* numbers of segments in ascending order, rows, (width, segments, parts) -> of each segment what is
   made of its rows, from the first one on; each part has some of the segments */
#define SEGMENTS(name, from_first, from_next, at_end)                                              \
  static int name(PyObject *args, i64 block) {                                                     \
    const i64 *index = AT(0), *sizes = AT(2);                                                      \
    const T *from = (const T *)DATA(args, 1);                                                      \
    T *out = (T *)DATA(args, 3);                                                                   \
    i64 count = elements(args, 0), width = sizes[0], segments = sizes[1];                          \
    i64 first = segments * block / sizes[2], last = segments * (block + 1) / sizes[2];             \
    if (!ascending(index, count, segments)) return DECLINED;                                       \
    for (i64 s = first, k = first_from(index, count, first); s < last; s++) {                      \
      T *restrict to = out + s * width;                                                            \
      i64 begin = k;                                                                               \
      if (k == count || index[k] != s) {                                                           \
        for (i64 c = 0; c < width; c++) to[c] = 0;                                                 \
        continue;                                                                                  \
      }                                                                                            \
      const T *restrict row = from + k * width;                                                    \
      for (i64 c = 0; c < width; c++) to[c] = from_first;                                          \
      for (k++; k < count && index[k] == s; k++) {                                                 \
        row += width;                                                                              \
        for (i64 c = 0; c < width; c++) to[c] = from_next;                                         \
      }                                                                                            \
      T length = (T)(k - begin);                                                                   \
      if (length > 1)                                                                              \
        for (i64 c = 0; c < width; c++) to[c] = at_end;                                            \
    }                                                                                              \
    return DONE;                                                                                   \
  }

/* the sum of negative zeros is a positive one */
SEGMENTS(segment_sum, 0 + row[c], to[c] + row[c], to[c])
SEGMENTS(segment_mean, 0 + row[c], to[c] + row[c], to[c] / length)
SEGMENTS(segment_max, row[c], (to[c] >= row[c]) | (to[c] != to[c]) ? to[c] : row[c], to[c])
SEGMENTS(segment_min, row[c], (to[c] <= row[c]) | (to[c] != to[c]) ? to[c] : row[c], to[c])

/* numbers of segments in ascending order, slopes of their means, (width, segments, parts) -> slopes
   of the rows; each part has some of the rows */
static int segment_mean_slopes(PyObject *args, i64 block) {
  const i64 *index = AT(0), *sizes = AT(2);
  const T *slopes = (const T *)DATA(args, 1);
  T *out = (T *)DATA(args, 3);
  i64 count = elements(args, 0), width = sizes[0], segments = sizes[1];
  i64 first = segments * block / sizes[2], last = segments * (block + 1) / sizes[2];
  if (!ascending(index, count, segments)) return DECLINED;
  i64 k = first_from(index, count, first), end = first_from(index, count, last);
  while (k < end) {
    i64 begin = k, segment = index[k];
    while (k < end && index[k] == segment) k++;
    const T *restrict slope = slopes + segment * width;
    T *to = out + begin * width, length = (T)(k - begin);
    for (i64 c = 0; c < width; c++) to[c] = slope[c] / length;
    for (i64 j = begin + 1; j < k; j++) __builtin_memcpy(out + j * width, to, width * sizeof(T));
  }
  return DONE;
}

/* numbers of segments, rows, an extreme of each segment, its slopes, (width, segments, parts) ->
   slopes of the rows, of those that are as large; each part has some of the rows */
static int segment_extreme_slopes(PyObject *args, i64 block) {
  const i64 *index = AT(0), *sizes = AT(4);
  const T *rows = (const T *)DATA(args, 1), *best = (const T *)DATA(args, 2);
  const T *slopes = (const T *)DATA(args, 3);
  T *out = (T *)DATA(args, 5);
  i64 count = elements(args, 0), width = sizes[0];
  i64 first = count * block / sizes[2], last = count * (block + 1) / sizes[2];
  if (!inside(index + first, last - first, sizes[1])) return DECLINED;
  for (i64 k = first; k < last; k++) {
    const T *restrict x = rows + k * width, *restrict most = best + index[k] * width;
    const T *restrict slope = slopes + index[k] * width;
    T *restrict to = out + k * width;
    for (i64 c = 0; c < width; c++) to[c] = slope[c] * (x[c] == most[c] ? (T)1 : (T)0);
  }
  return DONE;
}

/* lists [lists, count], (count, how many are wanted, parts) -> the largest of each list, the first of
   equal ones first, and where they are; declined where one is no number */
static int largest_of(PyObject *args, i64 block) {
  const i64 *sizes = AT(1);
  const T *values = (const T *)DATA(args, 0);
  T *out = (T *)DATA(args, 2);
  i64 *places = (i64 *)DATA(args, 3), count = sizes[0], wanted = sizes[1];
  i64 lists = elements(args, 0) / count;
  for (i64 l = lists * block / sizes[2]; l < lists * (block + 1) / sizes[2]; l++) {
    const T *list = values + l * count;
    T *best = out + l * wanted;
    i64 *where = places + l * wanted, found = 0, bad = 0;
    for (i64 k = 0; k < count; k++) bad |= list[k] != list[k];
    if (bad) return DECLINED;
    for (i64 k = 0; k < count; k++) {
      T value = list[k];
      if (found == wanted && !(value > best[wanted - 1])) continue;
      i64 at = found < wanted ? found++ : wanted - 1;
      for (; at && best[at - 1] < value; at--) {
        best[at] = best[at - 1];
        where[at] = where[at - 1];
      }
      best[at] = value;
      where[at] = k;
    }
  }
  return DONE;
}

/* how many elements of a short list come before each, of which equal ones stay in their order */
#define RANKS(most)                                                                                \
  EACH void ranks_of_##most(const T *list, i64 count, T sign, T *ranks) {                          \
    T keys[most], numbers[most];                                                                   \
    for (i64 k = 0; k < most; k++) {                                                               \
      keys[k] = k < count ? sign * list[k] : (T)__builtin_inff();                                  \
      numbers[k] = (T)k;                                                                           \
      ranks[k] = 0;                                                                                \
    }                                                                                              \
    for (i64 j = 0; j < count; j++) {                                                              \
      T key = keys[j], number = (T)j;                                                              \
      for (i64 k = 0; k < most; k++)                                                               \
        ranks[k] += (key < keys[k]) | ((key == keys[k]) & (number < numbers[k])) ? (T)1 : (T)0;    \
    }                                                                                              \
  }

RANKS(8)
RANKS(16)
RANKS(32)

/* lists [lists, count], of at most 32 elements, (count, whether the largest come first, parts) ->
   their elements in order, and where they were; declined where one is no number */
static int short_lists(PyObject *args, i64 block) {
  const i64 *sizes = AT(1);
  const T *values = (const T *)DATA(args, 0);
  T *out = (T *)DATA(args, 2), ranks[32], sign = sizes[1] ? (T)-1 : (T)1;
  i64 *places = (i64 *)DATA(args, 3), count = sizes[0], lists = elements(args, 0) / count;
  i64 first = lists * block / sizes[2], last = lists * (block + 1) / sizes[2], bad = 0;
  for (i64 k = first * count; k < last * count; k++) bad |= values[k] != values[k];
  if (bad) return DECLINED;
  for (i64 l = first; l < last; l++) {
    const T *list = values + l * count;
    if (count <= 8) ranks_of_8(list, count, sign, ranks);
    else if (count <= 16) ranks_of_16(list, count, sign, ranks);
    else ranks_of_32(list, count, sign, ranks);
    for (i64 k = 0; k < count; k++) {
      i64 rank = l * count + (i64)ranks[k];
      out[rank] = list[k];
      places[rank] = k;
    }
  }
  return DONE;
}
