i = 5
i = -5
5 = i
i = 5.0
i = 5.5
i <> 5
i != 5.5
i > 25
25 < i
i >= 29.5
i < 10
i <= 10
NOT i < 10
i > 100
i = 3000000000
i < 3000000000
i > -3000000000
i <=> 5
NOT i <=> 5
i <=> NULL
i = NULL
NOT (i = NULL)
i = NULL OR i = 15
i = '15'
i > '15'
i IN (1, 2)
i IN (1, 55)
i IN (1, 55, NULL)
i NOT IN (1, 55)
i NOT IN (1, NULL)
i IN (1)
i IN (NULL)
i IN (1.5, 2)
i IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13)
i IN (5L, 3000000000L)
i BETWEEN 12 AND 18
i NOT BETWEEN 5 AND 55
i > 10 AND i < 15
i < 5 OR i > 55
NOT (i < 5 OR i > 12)
NOT (i >= 5 AND i <= 55)
i > 3 + 4 * 10
i + 1 = 5
abs(i) = 5
-i = -5
cast(i as bigint) = 5
cast(i as double) > 35.5
cast(i as string) = '5'
cast(i as long) IN (1L, 2L)
i = l
i = 5 AND n = i
i = k AND k = 15
i = i
i < i
i = 5 AND i = 7
i > 5 AND rand() < 2
true
false
1 = 1
1 = 0
i IS NULL
i IS NOT NULL
k = 15
k IS NULL
k IS NOT NULL
`odd name` = 15
I = 15
l = 50000000000
l > 5
l = 5
l > 250000000000.5
l > 2.5e11
h = 15
h > 15
h > 40000
h IN (1, 40000)
d = 2.5
d > 2.5
d > 2
d = 1e1
d BETWEEN 1 AND 2
d = '2.5'
f = 2.5
f > 2.6
f > 2.6D
f = 1.5f
m = 12.5
m = 12.345
m > 12.345
m < 12
m = 12.50
m > 1e1
m IN (1.25, 2.5)
m > 99999999999
s = 'abc5'
s > 'c'
s >= 'cbc20'
s < 'b'
s LIKE 'abc%'
s LIKE 'abc'
s LIKE '%5'
s LIKE '%bc%'
s LIKE 'a%5'
s LIKE 'a_c%'
s LIKE 'a%%'
s LIKE '%'
s LIKE 'a\\_%'
s LIKE 'a!%%' ESCAPE '!'
s NOT LIKE 'abc%'
s LIKE NULL
s LIKE ANY ('abc%', 'cbc%')
s LIKE ALL ('abc%', '%5')
s NOT LIKE ANY ('abc%', 'cbc%')
s NOT LIKE ALL ('abc5', 'abc')
s NOT ILIKE 'ABC%'
s ILIKE 'ABC%'
s RLIKE '^abc'
startswith(s, 'cb')
startswith(s, '')
NOT startswith(s, 'cb')
endswith(s, '5')
contains(s, 'bc')
s = 5
s IN ('abc1', 'abc2')
s IN ('abc1', 'fbc55')
upper(s) = 'ABC5'
length(s) > 100
substring(s, 1, 1) = 'a'
s || 'x' = 'abc5x'
s = 'it''s'
t = 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa5'
t > 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
t > 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaz'
t <> 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
t LIKE 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%'
t LIKE 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb%'
t < 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'
t BETWEEN 'b' AND 'bz'
dt = '2024-01-15'
dt = date'2024-01-15'
dt > date'2024-02-20'
dt < '2024-01-05'
'2024-01-05' > dt
dt BETWEEN '2024-01-03' AND '2024-01-08'
dt IN ('2024-01-03', '2024-01-08')
dt = timestamp'2024-01-15 00:00:00'
dt = timestamp'2024-01-15 00:00:01'
dt < timestamp'2024-01-11 12:00:00'
dt >= timestamp'2024-02-09 12:00:00'
dt > to_date('2024-02-20')
year(dt) = 2024
dt = '2024-1-5'
ts = '2024-01-01 09:00:00.123456'
ts > '2024-01-01 09:00:00.123'
ts > '2024-01-01 09:00:00.1235'
ts > '2024-01-01 09:00:00.124'
ts > '2024-01-01 09:00:00.1240001'
ts >= '2024-01-01 09:00:00.124'
ts < timestamp'2024-01-01 10:00:00'
ts < '2024-01-01T10:00:00Z'
ts < '2024-01-01 10:00:00+05:00'
ts > date'2024-01-02'
ts > '2024-01-02'
date(ts) = '2024-01-02'
cast(ts as date) = date'2024-01-02'
cast(ts as date) > date'2024-01-01'
cast(ts as date) <= date'2024-01-01'
to_date(ts) < '2024-01-02'
ts BETWEEN '2024-01-01' AND '2024-01-01 05:00:00'
tn = '2024-01-01 05:00:00'
tn < timestamp_ntz'2024-01-01 10:00:00'
tn < timestamp'2024-01-01 10:00:00'
b
NOT b
b = true
b = false
b IS NOT NULL
b IS TRUE
nb
NOT nb
nb = true
nb <=> true
nb IS TRUE
nb IS NOT TRUE
nb IS NULL
nb IS NOT NULL
nb OR i = 5
n IS NULL
n IS NOT NULL
NOT (n IS NULL)
isnull(n)
isnotnull(n)
n = 15
n <> 15
n <=> 15
NOT (n <=> 15)
n <=> NULL
NOT (n <=> NULL)
n IS DISTINCT FROM 15
n IS NOT DISTINCT FROM 15
n + 1 > 0
n > 0
n IN (15, NULL)
n IN (1, 100)
n IN (1, 100, 50)
n NOT IN (15, 16)
coalesce(n, 5) = 5
n IS NULL AND i > 5
n IS NULL OR i > 55
(n > 5) IS NULL
(n = 5) IS NULL
(n = 5) IS NOT NULL
(n > 5 AND i > 5) IS NULL
(n > 5 OR i > 50) IS NULL
(NOT (n = 5)) IS NULL
startswith(ns, '1') IS NULL
ns IS NULL
ns LIKE '1%'
ns = n
if(n > 5, true, false)
CASE WHEN n > 5 THEN i = 5 ELSE i = 55 END
x = 30
x > 100
x < 100
x = double('NaN')
x > double('Infinity')
x <> 30
isnan(x)
st.x = 15
st.x > 100
st.x IS NULL
st.x IS NOT NULL
st.y.z = '15'
st.y.z LIKE '1%'
ST.Y.Z >= '50'
st IS NULL
st IS NOT NULL
xs[0] = 5
xs IS NOT NULL
mp['a'] = 5
mp.a = 5
size(xs) = 1
exists(xs, e -> e > 5)
bin = X'35'
bin IS NOT NULL
bin IS NULL
_metadata.file_path = 'nowhere'
_metadata.file_path LIKE '%x%' OR i = 5
_metadata.file_size > 0 AND i = 5
(i = 5 AND abs(k) = 1) OR (i = 15 AND abs(k) = 2)
(i = 5 AND l > 0) OR (i = 5 AND n > 0)
(nb AND abs(i) = 5) OR (nb AND abs(i) = 6)
(i < 5 OR abs(k) = 1) AND (i < 25 OR k > 100)
NOT (NOT (i = 5))
NOT (i > 5 AND abs(k) > 3)
i > 5 AND NOT i > 5
i > 5 OR NOT i > 5
i > 1 = true
(i > 30) = (i > 20)
i = 5 OR b
i % 10 = 5
i / 2 > 100
i = cast('15' as int)
i = 15S
i = int(15.7)
l = 99999999999999999999
l IN (50000000000, 99999999999999999999)
t IN ('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa5', 'b')
