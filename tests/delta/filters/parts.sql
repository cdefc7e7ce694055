p = 1
p = 1 AND i = 4
p <> 1
p > 0 AND q = 'q1'
p IN (0, 2)
p IS NULL
p IS NOT NULL
p <=> NULL
p <=> 1
NOT (p <=> 1)
p + 1 = 2
p % 2 = 0
-p = -1
q = 'q1'
q LIKE 'q%'
q LIKE '%1'
q LIKE '%1%'
q LIKE '_1'
q LIKE 'q%1'
q > 'q1'
upper(q) = 'Q1'
lower(q) IN ('q1', 'q2')
substring(q, 2, 1) = '1'
length(q) = 2
q IS NULL
startswith(q, 'q2')
q IN ('q1', NULL)
q NOT IN ('q1', NULL)
pd = '2024-01-01'
pd > date'2024-01-01'
year(pd) = 2024
month(pd) = 2 OR day(pd) = 2
pd < timestamp'2024-01-01 12:00:00'
cast(pd as string) = '2024-01-02'
cast(p as string) = '1'
p = '1'
p = 1.0
p > 0.5
p BETWEEN 1 AND 2
p = 1 OR i = 3
(p = 1 AND i = 4) OR (p = 2 AND i = 5)
(p = 1 AND i < 4) OR (p = 2 AND i > 6)
(p = 1 AND abs(i) = 4) OR (p = 2 AND abs(i) = 5)
NOT (p = 1 OR i = 3)
p = i
p = 1 AND p = 2
i = 4
i > 4 AND q IS NULL
p = 1 AND _metadata.file_size > 0
p > 0 AND abs(i) > 100
p = 1 AND n IS NULL
n = 5 OR q = 'q1'
true
p = 5
pd IN ('2024-01-01', '2024-02-01')
