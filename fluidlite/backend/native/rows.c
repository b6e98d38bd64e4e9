/* Rows and elements at numbers.  Before this stands T, the type of an element.  Arrays lie one
   element behind the other; numbers are looked at before anything is written. */
#define AT(k) ((const i64 *)DATA(args, k))

/* whether numbers are below a bound; negative ones are left out */
EACH int fit(const i64 *index, i64 count, i64 bound) {
  int bad = 0;
  for (i64 k = 0; k < count; k++) bad |= index[k] >= bound;
  return !bad;
}

/* whether numbers are in [0, bound) */
EACH int inside(const i64 *index, i64 count, i64 bound) {
  int bad = 0;
  for (i64 k = 0; k < count; k++) bad |= (unsigned long long)index[k] >= (unsigned long long)bound;
  return !bad;
}

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
  for (i64 l = first; l < last; l++) {
    const i64 *from = index + l * count * across;
    const T *list = values + l * rows * across;
    T *to = out + l * count * across;
    if (!inside(from, count * across, rows)) return DECLINED;
    if (across == 1)
      for (i64 k = 0; k < count; k++) to[k] = list[from[k]];
    else
      for (i64 k = 0; k < count; k++)
        for (i64 c = 0; c < across; c++) to[k * across + c] = list[from[k * across + c] * across + c];
  }
  return DONE;
}

/* numbers and updates [lists, count, across], (rows, across, parts) -> lists, changed at numbers;
   where it declines, some of them are changed */
#define ALONG(name, change)                                                                        \
  static int name(PyObject *args, i64 block) {                                                     \
    const i64 *index = AT(0), *sizes = AT(2);                                                      \
    const T *updates = (const T *)DATA(args, 1);                                                   \
    T *out = (T *)DATA(args, 3);                                                                   \
    i64 rows = sizes[0], across = sizes[1], lists = elements(args, 3) / (rows * across);           \
    i64 count = elements(args, 0) / (lists * across);                                              \
    i64 first = lists * block / sizes[2], last = lists * (block + 1) / sizes[2];                   \
    for (i64 l = first; l < last; l++) {                                                           \
      const i64 *restrict from = index + l * count * across;                                       \
      const T *restrict more = updates + l * count * across;                                       \
      T *restrict list = out + l * rows * across;                                                  \
      if (!inside(from, count * across, rows)) return DECLINED;                                    \
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

/* values [lists, rows, across], (rows, across, parts) -> their sums along the rows */
static int sums_along(PyObject *args, i64 block) {
  const i64 *sizes = AT(1);
  const T *values = (const T *)DATA(args, 0);
  T *out = (T *)DATA(args, 2);
  i64 rows = sizes[0], across = sizes[1], lists = elements(args, 0) / (rows * across);
  i64 first = lists * block / sizes[2], last = lists * (block + 1) / sizes[2], l = first;
  for (; across == 1 && l + 8 <= last; l += 8) { /* sums that do not wait for each other */
    const T *from = values + l * rows;
    T *to = out + l * rows, sums[8] = {0};
    for (i64 k = 0; k < rows; k++)
      for (i64 e = 0; e < 8; e++) to[e * rows + k] = sums[e] = k ? sums[e] + from[e * rows + k] : from[e * rows];
  }
  for (; l < last; l++) {
    const T *from = values + l * rows * across;
    T *to = out + l * rows * across;
    for (i64 c = 0; c < across; c++) to[c] = from[c];
    if (across == 1) {
      T sum = from[0];
      for (i64 k = 1; k < rows; k++) to[k] = sum += from[k];
    } else
      for (i64 k = across; k < rows * across; k += across) {
        const T *restrict before = to + k - across, *restrict more = from + k;
        T *restrict sums = to + k;
        for (i64 c = 0; c < across; c++) sums[c] = before[c] + more[c];
      }
  }
  return DONE;
}
