i = 5
i = 35
i > 54
i BETWEEN 31 AND 36
i IN (5, 15)
n IS NULL
n IS NOT NULL
n = 25
n <=> NULL
n IS NULL AND i > 15
s LIKE '5%'
i = 5 OR n = 39
abs(n) > 0
